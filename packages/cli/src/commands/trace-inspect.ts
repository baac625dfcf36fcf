import { arrivalBins, inspectTrace, lengthBins, metaJson } from '@perwatt/datasets';
import { Command } from 'commander';
import type { Io } from '../io.js';
import { traceLines } from '../trace-lines.js';
import { openTrace, type TraceFlags, withTraceOptions } from './trace-options.js';

const BINS = 60;

/** `perwatt trace inspect`: what a trace would do to a server. */
export const traceInspectCommand = (io: Io): Command =>
  withTraceOptions(new Command('inspect'))
    .description('Print rows, span, rate, burstiness, lengths and prefix reuse of a trace, with a plot')
    .argument('<file>', 'trace file, packed with gzip or not')
    .option('--json', 'print JSON: the same facts and the bins of the plot')
    .action(async (path: string, flags: TraceFlags & { readonly json?: boolean }) => {
      const table = await openTrace(path, flags, { io });
      const found = inspectTrace(table);
      if (flags.json !== true) {
        for (const line of traceLines(table, found)) io.print(line);
        return;
      }
      const plots = {
        arrivals: arrivalBins(table, BINS),
        input_tokens: lengthBins(table, 'input_tokens'),
        output_tokens: lengthBins(table, 'output_tokens'),
      };
      io.print(JSON.stringify({ ...found, meta: metaJson(found.meta), plots }));
    });
