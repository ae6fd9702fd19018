import { clusterSimulationTests } from '../support/sim-cluster-seeds.ts'

// Two files, so that two cores share the work.
clusterSimulationTests(1, 2)
