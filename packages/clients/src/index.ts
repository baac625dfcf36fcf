export { type EmbeddedClientOptions, embeddedClient } from './embedded/embedded-client.js';
export { type EmbeddedTokenizer, embeddedTokenizer } from './embedded/embedded-tokenizer.js';
export { probeEngine } from './embedded/probe-engine.js';
export { type EngineClientOptions, engineClient } from './engines/engine-client.js';
export { type EngineCommand, type EngineTarget, engineCommand } from './engines/engine-command.js';
export { type LaunchOptions, launchEngine } from './engines/launch-engine.js';
export { type Profile, profileOfKind, profiles } from './engines/profiles.js';
export { createLoadEngine, type LoadEngineOptions } from './http/load-engine.js';
export { type OpenAiClientOptions, openAiClient } from './http/openai-client.js';
export type { Api } from './http/openai-request.js';
export { type MockDelay, parseMockDelay } from './mock/mock-delay.js';
export {
  type MockFailure,
  type MockLogLine,
  type MockServerOptions,
  mockFailures,
  parseMockFailure,
} from './mock/mock-options.js';
export type { MockCounts } from './mock/mock-pages.js';
export { type MockServerProcess, startMockServer } from './mock/start-mock-server.js';
export { type Served, type ServeOptions, serveClient } from './serve/serve-client.js';
export { cacheFolder } from './weights/cache-folder.js';
export type { CatalogueModel } from './weights/catalogue.js';
export type { HubDataset, HubEntry } from './weights/hub.js';
export { probeModels } from './weights/probe-models.js';
export {
  type DatasetRepo,
  hubDataset,
  type PulledFile,
  type PullOptions,
  pullHubFile,
} from './weights/pull-dataset.js';
export {
  type ListedModel,
  listModels,
  type ModelWeights,
  pullModel,
  resolveModel,
  verifyModel,
} from './weights/store.js';
export type { WeightsProgress, WeightsWorld } from './weights/weights-world.js';
