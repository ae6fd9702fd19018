/**
 * A text of unknown origin made safe to show, line ends and tabs aside: characters that control the terminal or the
 * direction of writing are shown as signs instead. Its length stays the same.
 */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\u{2028}\u{2029}]|\p{Bidi_Control}/gu, (char) => {
    if (char === '\n' || char === '\t') return char
    const code = char.charCodeAt(0)
    // Unicode has a picture for each of the first 32 and for DEL.
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? '\u{2421}' : '\u{fffd}'
  })
}

/**
 * A name by which something is known. Control characters are shown as signs, line ends and tabs too: without them, or
 * with a blank in their place, it would be the name of another.
 */
export function visibleName(name: string): string {
  return visible(name).replace(/[\n\t]/g, (char) => (char === '\n' ? '\u{240a}' : '\u{2409}'))
}
