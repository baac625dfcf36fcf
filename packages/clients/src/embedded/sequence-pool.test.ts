import { expect, test } from 'vitest';
import { createPool } from './sequence-pool.js';

const never = new AbortController().signal;

test('those who wait are served in order', async () => {
  const pool = createPool(['a']);
  const first = await pool.take(never);
  const order: string[] = [];
  const second = pool.take(never).then((item) => void order.push(`second ${item}`));
  const third = pool.take(never).then((item) => void order.push(`third ${item}`));
  pool.give(first ?? '');
  await second;
  pool.give('a');
  await third;
  expect(order).toEqual(['second a', 'third a']);
});

test('who gives up waiting leaves the queue', async () => {
  const pool = createPool(['a']);
  await pool.take(never);
  const leaving = new AbortController();
  const gone = pool.take(leaving.signal);
  const next = pool.take(never);
  leaving.abort();
  expect(await gone).toBeNull();
  pool.give('a');
  expect(await next).toBe('a');
  expect(await pool.take(AbortSignal.abort())).toBeNull();
});

test('an abort after the turn came changes nothing', async () => {
  const pool = createPool(['a']);
  await pool.take(never);
  const late = new AbortController();
  const taken = pool.take(late.signal);
  pool.give('a');
  expect(await taken).toBe('a');
  late.abort();
  pool.give('a');
  expect(await pool.take(never)).toBe('a');
});
