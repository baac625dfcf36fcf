export {
  type FakeMeterPage,
  type FakePage,
  fakeMeterPage,
  prometheusVector,
  redfishMetrics,
  shellyStatus,
} from './power-fake-meter-page.js';
export { type FakePtdaemon, type FakePtdaemonOptions, fakePtdaemon } from './power-fake-ptdaemon.js';
export { type PowercapTree, type PowercapZone, powercapTree } from './power-powercap-tree.js';
export {
  type ScriptedSample,
  type ScriptedSourceOptions,
  sampleColumns,
  scriptedPowerSource,
  testDomain,
} from './power-scripted-source.js';
export { powerSourceContract, type SourceUnderContract } from './power-source-contract.js';
export { type SteadySourceOptions, steadyPowerSource } from './power-steady-source.js';
