export { type EmbeddedClientOptions, embeddedClient, probeEngine } from './embedded-index.js';
export { type OpenAiClientOptions, openAiClient } from './http/openai-client.js';
export type { Api } from './http/openai-request.js';
export { type Served, type ServeOptions, serveClient } from './serve-index.js';
export {
  type CatalogueModel,
  type CommandResult,
  cacheFolder,
  type ListedModel,
  type Lock,
  listModels,
  type ModelWeights,
  type Pin,
  probeModels,
  pullModel,
  type RunCommand,
  resolveModel,
  runCommand,
  verifyModel,
  type WeightLocation,
  type WeightsProgress,
  type WeightsWorld,
} from './weights-index.js';
