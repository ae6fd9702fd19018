/** What a server says of a path that none of its operations has: by it clients know that no operation has answered. */
export const nothingHere = 'There is nothing here.'
