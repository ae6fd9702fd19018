/** Most jobs of a file of definitions, and most triggers. */
export const definitionsMax = 20_000
