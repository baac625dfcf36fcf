import { expect, test } from 'vitest';
import { tokenAgreement } from './token-agreement.js';

// biome-ignore format: a table is read in columns
test.each([
  { pairs: [],                                             is: null,                                             why: 'nothing to compare' },
  { pairs: [{ server: 11, local: 10 }],                    is: { difference_ratio: 0.1, differs: false },        why: 'just within a tenth' },
  { pairs: [{ server: 111, local: 100 }],                  is: { difference_ratio: 0.11, differs: true },        why: 'beyond a tenth' },
  { pairs: [{ server: 80, local: 100 }],                   is: { difference_ratio: -0.2, differs: true },        why: 'too few' },
  { pairs: [{ server: 12, local: 10 }, { server: 88, local: 90 }], is: { compared: 2, differs: false },          why: 'sums are compared' },
  { pairs: [{ server: 0, local: 0 }],                      is: { difference_ratio: null, differs: false },       why: 'two empty answers' },
  { pairs: [{ server: 3, local: 0 }],                      is: { difference_ratio: null, differs: true },        why: 'the server counts what is not there' },
])('$why', ({ pairs, is }) => {
  const found = tokenAgreement(pairs);
  if (is === null) expect(found).toBeNull();
  else expect(found).toMatchObject(is);
});
