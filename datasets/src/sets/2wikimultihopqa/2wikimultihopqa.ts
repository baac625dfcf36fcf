import { hopSet } from '../hop-set.js';
import { twoWikiCard } from './card.js';

/** 2WikiMultiHopQA, whole or as questions and answers alone. */
export const twoWiki = hopSet(twoWikiCard);
