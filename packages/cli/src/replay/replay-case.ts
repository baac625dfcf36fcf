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
  return { id, kind, computed: run === undefined ? unsupported(`fixtures of kind "${kind}"`) : run(input) };
}
