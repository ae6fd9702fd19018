// The built package, as its users get it. By path, because bench/ is a package of its own and so cannot name its parent.
export * from '../../dist/index.js'
