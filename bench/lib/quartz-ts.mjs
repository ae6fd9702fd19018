// The built package, as its users get it: by path, because bench/ is a package of its own and cannot name its parent.
export * from '../../dist/index.js'
