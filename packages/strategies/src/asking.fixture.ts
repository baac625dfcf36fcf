import type { CallInput, Outcome } from '@perwatt/core';
import { drive, type Script } from '@perwatt/test-kit';
import { context, item, settings } from './settings.fixture.js';
import { strategyById } from './strategies.js';

/** Puts the item through a strategy on scripted answers; parameters beside those of its setting. */
export function ask(id: string, input: Readonly<Record<string, unknown>>, script: Script) {
  const strategy = strategyById(id);
  return drive(
    strategy.run(item, strategy.params.parse({ ...settings[id]?.params, ...input }), context()),
    script,
  );
}

/** All that a call says, turn by turn. */
export const textOf = (input: CallInput): string =>
  input.kind === 'completion'
    ? input.prompt
    : input.messages.map((m) => `${m.role}: ${m.content}`).join('\n');
/** The answer, or null where there is none. */
export const answerOf = (outcome: Outcome) => (outcome.status === 'answered' ? outcome.answer : null);
/** What an outcome says of itself. */
export const decisionsOf = (outcome: Outcome) =>
  outcome.status === 'answered' ? outcome.decisions.join('\n') : outcome.reason;
