import { availableParallelism } from 'node:os';
import { historySources, lateParentPolicies, zeroOutputPolicies } from '@perwatt/core';
import { type Command, Option } from 'commander';
import { atLeast, positive, shareOf1, whole } from './number-options.js';
import { shapes } from './replay-arrivals.js';
import { parseTokenizer } from './replay-tokens.js';

/** The options of `perwatt replay`. */
export const withReplayOptions = (command: Command): Command =>
  command
    .option('--endpoint <url>', 'base address of the server, with or without /v1')
    .option('--model <name>', 'model as the server knows it; default: the only one it lists')
    .addOption(new Option('--api <api>', 'what is called').choices(['chat', 'completion']).default('chat'))
    .option('--api-key-env <name>', 'environment variable that holds the key')
    .option('--format <format>', 'format of the trace; default: by its header')
    .option('--speed <factor>', '2 replays twice as fast', positive)
    .option('--from <time>', 'leave out what the trace holds before this time, for example 10min')
    .option('--to <time>', 'leave out what it holds from this time on')
    .option('--rate <n>', 'calls per second, instead of the times of the trace', positive)
    .addOption(
      new Option('--shape <shape>', 'how calls arrive; default: trace, or poisson with --rate').choices(
        shapes,
      ),
    )
    .option('--smoothness <k>', 'shape of gamma gaps: 1 is Poisson, below 1 comes in bursts', positive)
    .option('--ramp-from <n>', 'rate at the start of a ramp, calls per second', atLeast(0))
    .option('--ramp <time>', 'length of a ramp of the rate, or of a closed loop')
    .addOption(
      new Option('--ramp-curve <curve>', 'how the rate of a ramp grows in time; default: linear').choices([
        'linear',
        'exponential',
      ]),
    )
    .option('--steps <stages>', 'rates one after another, for example 2/30s,8/1min; 0 is a pause')
    .option('--concurrency <n>', 'most calls in flight, over all workers', whole(1, 1_000_000))
    .option('--max-rows <n>', 'stop after so many rows of the trace', whole(1, 2 ** 31))
    .addOption(
      new Option(
        '--zero-output <policy>',
        'rows that gave no token: send them for one token, or leave them out',
      )
        .choices(zeroOutputPolicies.filter((policy) => policy !== 'keep'))
        .default('replay-as-1'),
    )
    .addOption(
      new Option(
        '--prompts <source>',
        'prompts of the lengths of the trace, or its own texts; default: its texts where it carries any',
      ).choices(['made-up', 'trace']),
    )
    .addOption(
      new Option(
        '--late-parent <policy>',
        'play the conversations of the trace; a turn that is due before the one it goes on from has ended waits for it, is left out with what follows, or is sent at its time',
      ).choices(lateParentPolicies),
    )
    .option('--think <time>', 'with --late-parent wait: time from the end of a late turn to the next')
    .addOption(
      new Option(
        '--history <source>',
        "whose answers the earlier turns are sent with: the trace's (default), or those that the server has just given",
      ).choices(historySources),
    )
    .option(
      '--tokenizer <name>',
      'who counts prompts and answers here: words (one common word a token), server (its /tokenize), embedded:<model>',
      parseTokenizer,
    )
    .option('--template-tokens <n>', 'tokens that the server adds around a prompt', whole(0, 1 << 20))
    .option('--input-tokens <n>', 'length of prompts that the trace does not tell', whole(1, 1 << 24))
    .option('--output-tokens <n>', 'length of answers that the trace does not tell', whole(1, 1 << 24))
    .option(
      '--workers <n>',
      'threads that send',
      whole(1, 64),
      Math.max(1, Math.min(4, availableParallelism() - 1)),
    )
    .option('--seed <n>', 'seed of drawn arrivals', whole(0, 2 ** 31 - 1), 42)
    .option('--slo <limits>', 'limits of a good call: ttft=500ms,tpot=50ms,e2e=10s')
    .option(
      '--steady <rule>',
      'figures over the steady window too: plateau=0.9, batch_full=32, trim=10% or trim=30s,10s',
    )
    .option('--max-failed <share>', 'share of calls that may fail, 0 to 1', shareOf1, 0.05)
    .option(
      '--find-rate <lowest..highest>',
      'search for the highest rate that meets --slo, by bisection between two rates, calls per second',
    )
    .option('--rate-tolerance <share>', 'with --find-rate: how close to it the search comes', shareOf1, 0.05)
    .option('--trials <n>', 'with --find-rate: trials of each rate, most of which decide', whole(1, 99), 3)
    .option('--max-trials <n>', 'with --find-rate: most trials in all', whole(1, 1000), 40)
    .option('--trial-time <time>', 'with --find-rate: time that the calls of one trial are due within', '30s')
    .option(
      '--good-share <share>',
      'with --find-rate: share of all calls of a trial that have to be good',
      shareOf1,
      0.99,
    )
    .option('--headers-timeout <time>', 'longest wait for a response to begin', '120s')
    .option('--idle-timeout <time>', 'longest silence inside a response', '60s')
    .option('--baseline <time>', 'time that idle power is measured for, before and after', '3s')
    .option('--power <sources>', '`none`, or names of power sources separated by commas')
    .option('--no-gaps', "don't keep the gaps between tokens of every call")
    .option('--no-check', "don't try first how many calls a second this client can send")
    .option('--out <dir>', 'folder that run folders are made in', 'runs')
    .option('--resume <run>', 'go on with this run folder: only rows without a call on disk are sent')
    .option('--json', 'print the result as JSON')
    .option('--quiet', 'no progress display');
