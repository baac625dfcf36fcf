import { join } from 'node:path';
import {
  fileTexts,
  lossOf,
  metaJson,
  type TraceOutput,
  type TraceTable,
  traceOutputs,
  writable,
} from '@perwatt/datasets';
import { Command, Option } from 'commander';
import type { Io } from '../io.js';
import { withTracePlace } from '../trace-output.js';
import { openTrace, type TraceFlags, withTraceOptions } from './trace-options.js';

interface Flags extends TraceFlags {
  readonly to: TraceOutput;
  readonly out: string;
  readonly json?: boolean;
}

const forms = `
Forms:
  arrow      an Arrow stream; keeps everything, and where the rows come from
  jsonl      one object a line; keeps everything
  csv        a header and a line a row; without texts
  mooncake   JSONL of Mooncake: times to the ms, lengths, hash ids of blocks of 512 tokens
  burstgpt   CSV of BurstGPT: times in s, lengths, model, kind, session

Example:
  perwatt trace convert AzureLLMInferenceTrace_code.csv --to arrow --out code.arrows`;

/** `perwatt trace convert`: a trace in another form. */
export const traceConvertCommand = (io: Io): Command =>
  withTraceOptions(new Command('convert'))
    .description('Write a trace in another form, its rows in order of time')
    .argument('<file>', 'trace file, packed with gzip or not')
    .addOption(new Option('--to <form>', 'form to write').choices([...traceOutputs]).makeOptionMandatory())
    .requiredOption('--out <file>', 'file to write; one that is there is replaced')
    .option('--json', 'print what was written as JSON')
    .addHelpText('after', forms)
    .action((path: string, flags: Flags) =>
      withTracePlace(flags.out, io, async ({ scratch, write }) => {
        const texts = fileTexts(join(scratch, 'texts'));
        try {
          const table = await openTrace(path, flags, { io, texts });
          warnOfLoss(table, flags, io);
          const bytes = write(writable(table), flags.to);
          const { rows } = table.meta;
          if (flags.json === true)
            io.print(
              JSON.stringify({ out: flags.out, form: flags.to, rows, bytes, from: metaJson(table.meta) }),
            );
          else io.print(`${flags.out}: ${rows} rows, ${bytes} bytes`);
        } finally {
          texts.close();
        }
      }),
    );

function warnOfLoss(table: TraceTable, { to }: Flags, io: Io): void {
  const left = lossOf(writable(table), to).left_out;
  if (left.length > 0) io.printError(`note: ${to} has no place for ${left.join(', ')}; left out`);
  if (to === 'mooncake' && table.meta.unit !== 'ms') io.printError('note: times are rounded to whole ms');
}
