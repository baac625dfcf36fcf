import { hopSet } from '../hop-set.js';
import { hotpotqaCard } from './card.js';

/** HotpotQA, from the official JSON or the hub's tables. */
export const hotpotqa = hopSet(hotpotqaCard);
