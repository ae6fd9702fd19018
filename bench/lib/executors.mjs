// Built as its users get it; by path, as lib/quartz-ts.mjs.

export * from '../../dist/executors.js'
// Not exported by the package: what a periodic task costs in the heap.
export { DelayHeap } from '../../dist/internal-for-tests.js'
