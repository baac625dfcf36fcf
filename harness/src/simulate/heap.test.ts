import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { heap } from './heap.js';

const step = fc.option(fc.integer({ min: -5, max: 5 }), { nil: 'pop' as const });

test.prop([fc.array(step, { maxLength: 60 })])(
  'gives the least of what is in it, whatever the order of steps',
  (steps) => {
    const own = heap<number>((a, b) => a - b);
    const model: number[] = [];
    for (const each of steps) {
      if (each === 'pop') expect(own.pop()).toBe(model.shift());
      else {
        own.push(each);
        model.push(each);
        model.sort((a, b) => a - b);
      }
      expect(own.least()).toBe(model[0]);
      expect(own.size()).toBe(model.length);
    }
  },
);
