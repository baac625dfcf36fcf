/** Where a published figure was read. */
export type PublishedTag = 'paper' | 'code' | 'secondary' | 'note';

/** A figure that the authors of a method, or others, published for it. It is shown apart and never joins measured ones. */
export interface PublishedMethod {
  /** Strategy or recipe that it belongs to. */
  readonly method: string;
  readonly system: string;
  readonly model: string;
  readonly dataset: string;
  /** Tokens or cost as they were told; null where nothing was. */
  readonly cost: string | null;
  readonly value: string;
  readonly tag: PublishedTag;
  readonly source: string;
  /** Energy, J: nobody published one. */
  readonly energy_j: null;
}

type Row = readonly [
  method: string,
  system: string,
  model: string,
  dataset: string,
  cost: string | null,
  value: string,
  tag: PublishedTag,
  source: string,
];

// biome-ignore format: a table is read in columns
const rows: readonly Row[] = [
  ['delegate',            'SELFCEST against its base',      'Qwen3-4B',               'synthetic arithmetic',       '~1,700 against ~2,000 tokens (basis unspecified)', '83 % against 68 %',             'note',      'arXiv 2602.13262'],
  ['delegate',            'SELFCEST against its base',      'Qwen3-4B',               '2WikiMultiHopQA',            '644 against 1,214 tokens (basis unspecified)',     '70 % against 65 %',             'note',      'arXiv 2602.13262'],
  ['spawn_join',          'APR against SoS+',               '228M',                   'Countdown, 4k context',      null,                                               '83.4 % against 60.0 %',         'paper',     'arXiv 2504.15466'],
  ['spawn_join',          'APR against SoS+',               '228M',                   'Countdown, 20k total tokens', '20k tokens',                                      '80.1 % against 66.6 %',         'paper',     'arXiv 2504.15466'],
  ['team_vote',           'SAT, 3 × 4B',                    'Qwen3-4B',               'AIME 2024/2025',             null,                                               '+3.9 points over Qwen3-32B',    'note',      'arXiv 2605.05216'],
  ['team_vote',           'SAT, three members swapped 4B → 8B', 'Qwen3-4B, Qwen3-8B', 'composite',                  null,                                               '56.5 → 70.4',                   'note',      'arXiv 2605.05216'],
  ['env_react',           'OVCSD against SDAR',             'three scales',           'ALFWorld',                   '2.1× fewer actions',                               'up to +29.7 points',            'note',      'arXiv 2607.27937'],
  ['env_react',           'OVCSD against SDAR',             'three scales',           'WebShop',                    null,                                               'up to +5.4 points',             'note',      'arXiv 2607.27937'],
  ['debate',              'Multiagent Finetuning',          'Phi-3',                  'Arithmetic / GSM / MATH',    '3 members × 2 rounds',                             '99.40 / 88.60 / 58.80 %',       'secondary', 'arXiv 2501.05707'],
  ['debate',              'Debate without training',        'Phi-3',                  'Arithmetic / GSM / MATH',    '3 members × 2 rounds',                             '96.20 / 84.40 / 53.40 %',       'secondary', 'arXiv 2501.05707'],
  ['prove_verify_refine', 'DeepSeekMath-V2',                'DeepSeekMath-V2',        'IMO 2025 / CMO 2024 / Putnam 2024', null,                                        '83.3 / 73.8 / 98.3 %',          'paper',     'DeepSeekMath-V2, paper in its repository'],
  ['propose_solve',       'AZR-Coder-7B',                   'Qwen2.5-7B-Coder',       'code / math / average',      null,                                               '61.6 / 39.1 / 50.4 %',          'code',      'arXiv 2505.03335'],
  ['repeated_sampling',   'Large Language Monkeys',         'DeepSeek-Coder-V2',      'SWE-bench Lite',             '250 attempts',                                     '15.9 → 56 %',                   'paper',     'arXiv 2407.21787'],
  ['budget_forcing',      's1-32B',                         'Qwen2.5-32B',            'AIME 2024',                  null,                                               '50 → 56.7 %',                   'paper',     'arXiv 2501.19393'],
  ['self_consistency',    'Self-consistency over chain of thought', 'several',        'GSM8K',                      null,                                               '+17.9 points',                  'secondary', 'arXiv 2203.11171, abstract of version 4'],
  ['route_learned',       'RouteLLM',                       'GPT-4 and Mixtral',      'MT-Bench',                   'up to 85 % less cost',                             '95 % of GPT-4',                 'code',      'arXiv 2406.18665'],
  ['minion',              'Minion',                         'local 8B with GPT-4o',   'long documents',             '30.4× less cost',                                  '87 % of the remote model alone', 'paper',    'arXiv 2502.15964'],
  ['minions',             'MinionS',                        'local 8B with GPT-4o',   'long documents',             '5.7× less cost',                                   '97.9 % of the remote model alone', 'paper',  'arXiv 2502.15964'],
];

/** What was published for the methods, as far as it was read; empty for methods that nothing was published for. */
export const publishedMethods: readonly PublishedMethod[] = rows.map(
  ([method, system, model, dataset, cost, value, tag, source]) => ({
    method,
    system,
    model,
    dataset,
    cost,
    value,
    tag,
    source,
    energy_j: null,
  }),
);

/** What was published for one method. */
export const publishedFor = (method: string): PublishedMethod[] =>
  publishedMethods.filter((row) => row.method === method);
