export { type ClientContractOptions, type ClientUnderContract, clientContract } from './client-contract.js';
export {
  type ManualClock,
  manualClock,
  tickingClock,
  type WatchedClock,
  watchedClock,
} from './clocks.js';
export { deliver, type Segment } from './deliver.js';
export { drive, type Script, type Scripted } from './drive.js';
export { type FakeAnswer, type FakeClient, type FakeClientOptions, fakeClient } from './fake-client.js';
export { executable, fakeVllm } from './fake-engine-program.js';
export { type GgufFixtureOptions, ggufFixture, ggufShape } from './gguf-fixture.js';
export {
  type KernelBehaviour,
  type KernelScript,
  kernelDevice,
  scriptedKernels,
} from './kernel-program.js';
export { type StreamCase, sharedFolder, streamCases } from './load-cases.js';
export {
  answerJson,
  chatChunk,
  type MockAnswer,
  type MockExchange,
  type MockServer,
  mockOpenAiServer,
  scriptedOpenAi,
  sseDone,
  sseEvent,
} from './mock-openai-server.js';
export { deadUrl, greedyRequest, type MockedClient, mockedClient } from './mocked-client.js';
export {
  type FakeMeterPage,
  type FakePage,
  fakeMeterPage,
  prometheusVector,
  redfishMetrics,
  shellyStatus,
} from './power-fake-meter-page.js';
export { type FakePtdaemon, type FakePtdaemonOptions, fakePtdaemon } from './power-fake-ptdaemon.js';
export {
  type CounterMoment,
  type LiveCounter,
  type LiveCounterOptions,
  liveCounter,
  momentAt,
} from './power-live-counter.js';
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
export { pythonClients } from './python-clients.js';
export { type ScriptedAnswer, scriptedAnswer } from './scripted-model.js';
export { type SecureFront, secureFront } from './secure-front.js';
