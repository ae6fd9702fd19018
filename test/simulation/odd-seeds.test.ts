import { simulationTests } from '../support/sim-seeds.ts'

// Two files, so that two cores share the work.
simulationTests(1, 2)
