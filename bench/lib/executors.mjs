// Built as its users get it; by path, as lib/quartz-ts.mjs.

// Not exported by the package: what a periodic task costs in the heap.
export { DelayHeap } from '../../dist/executors/delay-heap.js'
export * from '../../dist/executors.js'
