import { accessCase } from './access.js';
import { counterCase } from './counter.js';
import { decodeCase } from './decode.js';
import { type Fields, fieldsOf } from './fields.js';
import { gaugeCase } from './gauge.js';
import { type Computed, unsupported } from './outcome.js';
import { topologyCase } from './topology.js';
import { windowCase } from './window.js';

/** What one fixture came to. */
export interface Replayed {
  readonly id: string;
  readonly kind: string;
  /** In the shape of the fixture's `expect`; `{unsupported: reason}` where no built code can run it. */
  readonly computed: Computed;
}

const kinds: Readonly<Record<string, (input: Fields) => Computed>> = {
  counter: counterCase,
  topology: topologyCase,
  access: accessCase,
  decode: decodeCase,
  gauge: gaugeCase,
  window: windowCase,
};

/** Runs one fixture or an array of them (format `perwatt-power-case/1`) through the code that reads live sensors. */
export const replayCases = (json: unknown): Replayed[] =>
  (Array.isArray(json) ? json : [json]).map((fixture, i) => replayCase(fixture, i));

function replayCase(fixture: unknown, index: number): Replayed {
  const fields = fieldsOf(fixture, `fixture ${index + 1}`);
  const [id, kind] = [fields.text('id'), fields.text('kind')];
  const run = kinds[kind];
  const input = fieldsOf((fixture as { readonly input?: unknown }).input, `${id}.input`);
  if (run === undefined) return { id, kind, computed: unsupported(`fixtures of kind "${kind}"`) };
  const lost = lostDigits((fixture as { readonly input?: unknown }).input);
  const reason = `a whole number near ${lost} has lost digits in JSON`;
  return { id, kind, computed: lost === null ? run(input) : unsupported(reason) };
}

/** A whole number above 2^53, which JSON keeps only roughly: better no answer than one beside the truth. */
function lostDigits(value: unknown): number | null {
  if (typeof value === 'number')
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? value : null;
  if (typeof value !== 'object' || value === null) return null;
  for (const inner of Object.values(value)) {
    const lost = lostDigits(inner);
    if (lost !== null) return lost;
  }
  return null;
}
