import { PerwattError } from '@perwatt/core';
import {
  prefixTree,
  type SynthArrivals,
  type SynthLengths,
  synthLike,
  synthShape,
  type TraceOutput,
  traceOutputs,
  type WritableTrace,
} from '@perwatt/datasets';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Io } from '../io.js';
import { withTracePlace } from '../trace-output.js';
import {
  openTrace,
  positiveNumber,
  type TraceFlags,
  wholeNumber,
  withTraceOptions,
} from './trace-options.js';

interface Flags extends TraceFlags {
  readonly like?: string;
  readonly rate?: number;
  readonly shape?: SynthArrivals['shape'];
  readonly cv?: number;
  readonly input?: SynthLengths;
  readonly output?: SynthLengths;
  readonly prefixes?: string;
  readonly blockTokens: number;
  readonly rows: number;
  readonly seed: number;
  readonly as: TraceOutput;
  readonly out: string;
  readonly json?: boolean;
}

const examples = `
With --like, arrivals, lengths and prefix reuse are those of a real trace, dealt out anew in blocks of successive rows;
--rate makes it faster or slower, --shape replaces its arrivals. Without it, lengths are lognormal and independent.
The same seed gives the same file.

Examples:
  perwatt trace synth --like AzureLLMInferenceTrace_conv.csv --rows 1000000 --out conv.arrows
  perwatt trace synth --shape gamma --cv 3 --rate 200 --input 1000:1.2 --output 200:0.8 --rows 1000000 --as burstgpt --out burst.csv
  perwatt trace synth --shape poisson --rate 5 --input 4096 --output 128 --prefixes 4x1024,8x512 --rows 10000 --out tree.arrows`;

/** `perwatt trace synth`: a trace of any length by a model. */
export const traceSynthCommand = (io: Io): Command =>
  withTraceOptions(new Command('synth'))
    .description('Make a trace like another one, or by its rate, shape and lengths')
    .option('--like <file>', 'trace to be like')
    .option('--rate <n>', 'calls per second', positiveNumber)
    .addOption(new Option('--shape <shape>', 'law of the arrivals').choices(['constant', 'poisson', 'gamma']))
    .option('--cv <n>', 'standard deviation of the gaps over their mean, for gamma', positiveNumber)
    .option('--input <mean[:cv]>', 'input tokens', lengths)
    .option('--output <mean[:cv]>', 'output tokens', lengths)
    .option('--prefixes <levels>', 'shared prefixes, CHILDRENxTOKENS for each level of a tree')
    .option('--block-tokens <n>', 'tokens of a block of shared text', wholeNumber, 512)
    .requiredOption('--rows <n>', 'calls to make', wholeNumber)
    .option('--seed <n>', 'seed', seed, 42)
    .addOption(new Option('--as <form>', 'form to write').choices([...traceOutputs]).default('arrow'))
    .requiredOption('--out <file>', 'file to write; one that is there is replaced')
    .option('--json', 'print what was written as JSON')
    .addHelpText('after', examples)
    .action((flags: Flags) =>
      withTracePlace(flags.out, io, async ({ write }) => {
        const bytes = write(await traceOf(flags, io), flags.as);
        const { out, as: form, rows } = flags;
        if (flags.json === true) io.print(JSON.stringify({ out, form, rows, bytes, seed: flags.seed }));
        else io.print(`${out}: ${rows} rows, ${bytes} bytes`);
      }),
    );

const usage = (message: string, hint: string) => new PerwattError('USAGE', message, { hint });

async function traceOf(flags: Flags, io: Io): Promise<WritableTrace> {
  const { like, rows, input, output, prefixes } = flags;
  if (like === undefined) return lawTrace(flags);
  if (input !== undefined || output !== undefined || prefixes !== undefined)
    throw usage(
      '--like takes lengths and prefixes from the trace',
      'Leave out --input, --output and --prefixes.',
    );
  const table = await openTrace(like, flags, { io });
  if (flags.shape === undefined) {
    const rate = flags.rate === undefined ? {} : { rate_per_s: flags.rate };
    return synthLike(table, { rows, seed: flags.seed, ...rate });
  }
  return synthLike(table, { rows, seed: flags.seed, arrivals: arrivalsOf(flags, flags.shape) });
}

function lawTrace(flags: Flags): WritableTrace {
  const { rows, input, output, prefixes, blockTokens } = flags;
  if (flags.shape === undefined || input === undefined || output === undefined)
    throw usage('say what the trace is like', 'Give --like FILE, or --shape, --rate, --input and --output.');
  return synthShape({
    rows,
    seed: flags.seed,
    arrivals: arrivalsOf(flags, flags.shape),
    input,
    output,
    ...(prefixes === undefined ? {} : { prefixes: prefixTree(prefixes, blockTokens) }),
  });
}

function arrivalsOf({ rate, cv }: Flags, shape: SynthArrivals['shape']): SynthArrivals {
  if (rate === undefined) throw usage(`--shape ${shape} needs a rate`, 'Give --rate in calls per second.');
  if (shape === 'gamma' && cv === undefined)
    throw usage('--shape gamma needs the CV of the gaps', 'Give --cv: 1 is Poisson, more are bursts.');
  if (shape !== 'gamma' && cv !== undefined)
    throw usage(`--cv is no option of --shape ${shape}`, 'Leave it out, or use --shape gamma.');
  return { shape, rate_per_s: rate, cv: cv ?? 1 };
}

function lengths(value: string): SynthLengths {
  const match = /^([0-9]+(?:\.[0-9]+)?)(?::([0-9]+(?:\.[0-9]+)?))?$/.exec(value);
  if (match === null) throw new InvalidArgumentError('it must be MEAN or MEAN:CV, such as 1000:1.2.');
  return { mean: Number(match[1]), cv: Number(match[2] ?? 0) };
}

function seed(value: string): number {
  if (!/^[0-9]{1,9}$/.test(value)) throw new InvalidArgumentError('it must be a whole number.');
  return Number(value);
}
