import { aimeSet } from '../aime-set.js';
import { aime2024Card } from './card.js';

/** AIME 2024. */
export const aime2024 = aimeSet(aime2024Card);
