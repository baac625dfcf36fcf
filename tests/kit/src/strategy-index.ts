export { drive, type Scripted } from './drive.js';
