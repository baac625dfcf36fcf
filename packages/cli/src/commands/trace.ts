import { traceReaders } from '@perwatt/datasets';
import { Command } from 'commander';
import type { Io } from '../io.js';
import { traceConvertCommand } from './trace-convert.js';
import { traceInspectCommand } from './trace-inspect.js';
import { traceSynthCommand } from './trace-synth.js';

const formats = `
Formats:
${traceReaders.map(({ format, title }) => `  ${format.padEnd(15)}${title}`).join('\n')}

Examples:
  perwatt trace inspect AzureLLMInferenceTrace_code.csv
  perwatt trace convert conversation_trace.jsonl --to arrow --out conversation.arrows
  perwatt trace synth --like AzureLLMInferenceTrace_conv.csv --rows 1000000 --as burstgpt --out million.csv`;

/** `perwatt trace`: recorded load, and load made like it. */
export const traceCommand = (io: Io): Command =>
  new Command('trace')
    .description('Inspect, convert and make traces of calls to a server')
    .addHelpText('after', formats)
    .addCommand(traceInspectCommand(io))
    .addCommand(traceConvertCommand(io))
    .addCommand(traceSynthCommand(io));
