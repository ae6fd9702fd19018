import { type Language, language } from '../state/preferences.ts'

/**
 * The words of a page or a part in every language: what English has, the others must have, or it does not compile.
 * The function that is returned gives those of the language that is chosen.
 */
export function dictionary<Words>(
  texts: { readonly en: Words } & Readonly<Record<Exclude<Language, 'en'>, NoInfer<Words>>>,
): () => Words {
  return () => texts[language.value]
}
