import { fc, test } from '@fast-check/vitest';
import { describe, test as example, expect } from 'vitest';
import { ask, decisionsOf, textOf } from './asking.fixture.js';
import { objectIn } from './hermes.js';
import { chunksOf } from './minions-plan.js';
import { item, settings } from './settings.fixture.js';

describe('minion and minions', () => {
  example.each(['minion', 'minions'])(
    '%s: no passage reaches the supervisor but in workers’ words',
    async (id) => {
      const { batches } = await ask(id, {}, settings[id]!.respond);
      const remote = batches.flat().filter((c) => c.role === 'supervisor');
      expect(remote.length).toBeGreaterThan(1);
      for (const call of remote) expect(textOf(call.input)).not.toContain('SECRET');
      const local = batches.flat().filter((c) => c.role === 'worker');
      expect(local.every((c) => textOf(c.input).includes('SECRET'))).toBe(true);
    },
  );

  example('a supervisor that never ends is made to answer after its last question', async () => {
    const { batches, outcome } = await ask('minion', { max_rounds: 2 }, (call) =>
      call.role === 'worker' ? 'hm' : '{"decision": "request_additional_info", "message": "and?"}',
    );
    expect(batches.flat().filter((c) => c.role === 'supervisor')).toHaveLength(3);
    expect(textOf(batches.at(-1)![0]!.input)).toContain('provide_final_answer');
    expect(outcome.status).toBe('answered');
  });

  example.each([
    [{ by: 'paragraphs', size: 1, overlap: 0 }, 2],
    [{ by: 'chars', size: 20, overlap: 5 }, 6],
    [{ by: 'pages', size: 1, overlap: 0 }, 1],
  ] as const)('%j cuts the document into %d pieces', (chunker, pieces) => {
    expect(chunksOf(item.material!, chunker)).toHaveLength(pieces);
  });

  test.prop([fc.string({ maxLength: 200 }), fc.integer({ min: 1, max: 20 }), fc.nat(19)])(
    'pieces cover every character, and overlap as told',
    (text, size, overlap) => {
      fc.pre(overlap < size);
      const chunks = chunksOf({ task: '', passages: [{ key: 'k', text }] }, { by: 'chars', size, overlap });
      const whole = [...`[k]\n${text}`];
      const joined = chunks.flatMap((chunk, i) => [...chunk].slice(i === 0 ? 0 : overlap));
      expect(joined.join('')).toBe(whole.join(''));
    },
  );

  example(
    'jobs are chunks × tasks × samples; null and unreadable findings are dropped and counted',
    async () => {
      const { batches, outcome } = await ask('minions', {}, (call) => {
        if (call.id.startsWith('plan'))
          return '{"chunker": {"by": "paragraphs", "size": 1}, "tasks": [{"id": "a", "instruction": "x"}, {"id": "b", "instruction": "y"}], "samples": 2}';
        if (call.role === 'worker')
          return ['{"answer": null}', 'no json', '{"answer": "FOUND"}'][(call.branch ?? 0) % 3]!;
        return '{"answer": "42"}';
      });
      expect(batches.flat().filter((c) => c.role === 'worker')).toHaveLength(8);
      const synthesis = textOf(batches.at(-1)![0]!.input);
      expect(synthesis.match(/FOUND/g)).toHaveLength(2);
      expect(decisionsOf(outcome)).toContain('8 jobs, 3 without readable findings');
    },
  );

  example('more jobs than the cap are not done and that is told', async () => {
    const { outcome } = await ask('minions', { max_jobs: 1 }, settings['minions']!.respond);
    expect(decisionsOf(outcome)).toContain('1 jobs of 2');
  });

  example('objects are found in fences and in prose', () => {
    expect(objectIn('Sure:\n```json\n{"a": 1}\n```')).toEqual({ a: 1 });
    expect(objectIn('I say {"a": {"b": 2}} now')).toEqual({ a: { b: 2 } });
    expect(objectIn('none')).toBeNull();
  });
});
