export { type EmbeddedClientOptions, embeddedClient } from './embedded/embedded-client.js';
export { probeEngine } from './embedded/probe-engine.js';
