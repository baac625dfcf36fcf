export { type ClientContractOptions, type ClientUnderContract, clientContract } from './client-contract.js';
export {
  type ManualClock,
  manualClock,
  tickingClock,
  type WatchedClock,
  watchedClock,
} from './clocks.js';
export { deliver, type Segment } from './deliver.js';
export { type FakeAnswer, type FakeClient, type FakeClientOptions, fakeClient } from './fake-client.js';
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
export { type ScriptedAnswer, scriptedAnswer } from './scripted-model.js';
