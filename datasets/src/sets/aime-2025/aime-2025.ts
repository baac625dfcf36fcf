import { aimeSet } from '../aime-set.js';
import { aime2025Card } from './card.js';

/** AIME 2025. */
export const aime2025 = aimeSet(aime2025Card);
