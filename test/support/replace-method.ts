/** Puts another method in the place of one of a class; answers what puts the old one back. */
export function replaceMethod<Instance extends object, Name extends keyof Instance & string>(
  prototype: Instance,
  name: Name,
  make: (original: Instance[Name]) => Instance[Name],
): () => void {
  const original = prototype[name]
  prototype[name] = make(original)
  return () => {
    prototype[name] = original
  }
}
