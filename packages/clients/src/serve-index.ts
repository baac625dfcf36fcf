export { type Served, type ServeOptions, serveClient } from './serve/serve-client.js';
