import { PerwattError } from '@perwatt/core';
import { expect, test } from 'vitest';
import { forgivingFile, type SampleFile } from './sample-file.js';

const fileThat = (flush: () => void) => {
  const done: string[] = [];
  const file: SampleFile = {
    add: () => void done.push('add'),
    addChannels: () => void done.push('channels'),
    flush,
    close: () => void done.push('close'),
  };
  return { file, done };
};

test('a file on a full disk is given up once, and nothing else is', () => {
  const { file, done } = fileThat(() => {
    throw new PerwattError('DISK_FULL', 'no space left for x.arrows');
  });
  const told: string[] = [];
  const forgiving = forgivingFile(file, ({ message }) => told.push(message));
  const [recorder, columns] = [{} as never, {} as never];
  forgiving.add(recorder, columns);
  forgiving.flush();
  forgiving.add(recorder, columns);
  forgiving.addChannels(recorder, columns);
  forgiving.flush();
  forgiving.close();
  expect([done, told]).toEqual([['add'], ['no space left for x.arrows']]);
});

test('a mistake of ours is no full disk', () => {
  const { file } = fileThat(() => {
    throw new TypeError('oops');
  });
  expect(() => forgivingFile(file, () => {}).flush()).toThrow('oops');
});
