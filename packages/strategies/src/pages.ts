/** What documentation says of a strategy beside its parameters. */
export interface StrategyPage {
  readonly title: string;
  /** The protocol as a drawing of lines. */
  readonly picture: string;
  /** What it does, in a few sentences. */
  readonly protocol: string;
  /** What one query costs, in calls. */
  readonly costs: string;
  /** Where the method comes from; null where it is older than papers. */
  readonly source: string | null;
}

/** A page for every strategy there is, by id. */
export const pages: Readonly<Record<string, StrategyPage>> = {
  single: {
    title: 'Single',
    picture: 'item ──▶ main ──▶ answer',
    protocol: 'One call with the item’s prompt. The answer is its whole text.',
    costs: '1 call.',
    source: null,
  },
  self_consistency: {
    title: 'Self-consistency',
    picture: `      ┌▶ main ─┐
item ─┼▶ main ─┼▶ vote ──▶ answer
      └▶ main ─┘`,
    protocol:
      'Independent attempts in parallel; answers are read, grouped by the data set’s own equality, and the one given most often wins. Of a tie the one given first wins. An attempt without a readable answer does not vote; when none has one the query abstains.',
    costs: '`attempts` calls, all at once: sequential tokens are those of the longest attempt.',
    source: 'arXiv 2203.11171',
  },
  weighted_vote: {
    title: 'Weighted vote',
    picture: `      ┌▶ main ─▶ verifier ─┐
item ─┼▶ main ─▶ verifier ─┼▶ sum by answer ──▶ answer
      └▶ main ─▶ verifier ─┘`,
    protocol:
      'As self-consistency, but each attempt counts as much as a verifier scores it. Without any readable score each counts once, and the decision says so.',
    costs: '2 × `attempts` calls with a model as verifier, else `attempts`.',
    source: 'arXiv 2203.11171, arXiv 2408.03314',
  },
  best_of_n: {
    title: 'Best of n',
    picture: `      ┌▶ main ─▶ verifier ─┐
item ─┼▶ main ─▶ verifier ─┼▶ highest score ──▶ answer
      └▶ main ─▶ verifier ─┘`,
    protocol:
      'The attempt that a verifier scores highest. With `verifier: oracle`, the data set’s own grader, accuracy is pass@n: an upper bound that no deployment has, and every table says so.',
    costs: '2 × `attempts` calls with a model as verifier, else `attempts`.',
    source: 'arXiv 2408.03314',
  },
  repeated_sampling: {
    title: 'Repeated sampling',
    picture: `      ┌▶ main ─┐
item ─┼▶ main ─┼▶ any right? ──▶ coverage
      └▶ main ─┘`,
    protocol:
      'Many attempts; the item counts as covered when the data set’s grader takes any of them for right. Each attempt’s verdict is kept, from which pass@k follows for every k up to `attempts`.',
    costs: '`attempts` calls, all at once.',
    source: 'arXiv 2407.21787',
  },
  sequential_revision: {
    title: 'Sequential revision',
    picture: 'item ──▶ main ──▶ main ──▶ main ──▶ last, vote or verifier ──▶ answer',
    protocol:
      'The model looks over its own answer round by round. The last round counts, or the answer given most often, or the round that a verifier scores highest. When a round fails the rounds before it stand.',
    costs:
      '`rounds` calls in one chain: sequential tokens are all tokens. As many again for a verifier that is a model.',
    source: 'arXiv 2408.03314',
  },
  compute_optimal: {
    title: 'Compute-optimal mix of attempts and revisions',
    picture: `      ┌▶ main ─┐                ┌─ low ──▶ more attempts ─┐
item ─┼▶ main ─┼▶ do they agree? ┤                         ├▶ vote ──▶ answer
      └▶ main ─┘                └─ high ─▶ revisions ─────┘`,
    protocol:
      "A fixed number of calls. The first are independent attempts; the share of them that agree puts the item into a bin, the hardest first. `parallel` says for each bin which share of the remaining calls are new attempts; the others revise the leading answer in one chain. All answers vote.\n\nThe right shares are found on a calibration split, a data set of other questions of the same kind: run it with one cell for each share (`{ id: p0, kind: compute_optimal, edges: [], parallel: [0] }`, `[0.5]`, `[1]`), then\n\n```sh\nperwatt query RUN \"with told as (select q.strategy, q.score, q.energy_gross_j j, cast(regexp_extract(t.detail, 'agreement ([0-9.]+)', 1) as double) agreement from queries q join texts t on t.query_id = q.query_id and t.kind = 'answer' where q.status = 'answered') select round(agreement, 3) agreement, strategy, count(*) n, avg(score) accuracy, sum(j) calibration_j from told group by all order by agreement, accuracy desc\"\n```\n\nlists for each agreement which share was right most often, and the joules that the calibration took, which belong beside the joules that it saves. The defaults are not calibrated: they are the direction of the paper. Its bins are fifths of the pass rate, which nobody knows of a new question; the agreement of the first attempts stands for it here.",
    costs: '`calls` calls; 2 + revisions deep.',
    source: 'arXiv 2408.03314',
  },
  budget_forcing: {
    title: 'Budget forcing',
    picture: `prompt + <think> ──▶ main ──▶ "Wait" ──▶ main ──▶ … ──▶ </think> Final Answer: ──▶ main ──▶ answer
                     └─ end of thinking ignored ─┘      at the cap`,
    protocol:
      'Works on bare completions. An end of thinking is replaced by a nudge `ignores` times; at `thinking_tokens` thinking is closed and the answer called for. Each continuation sends the text so far again: what the server had in its cache is counted as cached tokens.',
    costs: 'At most `ignores` + 2 calls in one chain.',
    source: 'arXiv 2501.19393',
  },
  debate: {
    title: 'Debate',
    picture: `      ┌▶ member ─▶ summary of the others ─▶ member ─┐
item ─┼▶ member ─▶ summary of the others ─▶ member ─┼▶ vote ──▶ answer
      └▶ member ─▶ summary of the others ─▶ member ─┘`,
    protocol:
      'Members answer on their own, then read what the others said, condensed by a call or as it stands, and answer again. A member never reads its own answer among the others’. Only the last round votes; when all of it fails, the round before it.',
    costs:
      '`members` × `rounds` answers and `members` × (`rounds` − 1) summaries; 2 × `rounds` − 1 calls deep.',
    source: 'arXiv 2501.05707',
  },
  prove_verify_refine: {
    title: 'Prove, verify, refine',
    picture: `item ──▶ pool of solutions ──▶ examinations 0 / ½ / 1 ──▶ examinations of low ones
              ▲                                              │
              └────────── refine the best ◀──────────────────┘──▶ best ──▶ answer`,
    protocol:
      'Solutions are examined several times each; low examinations are examined themselves, and one whose defects turn out to be invented does not count. Quality is the mean of what counts. The best are refined with their lowest examinations; a faultless one ends the search. A score that is not exactly 0, 0.5 or 1 is a failure of format, not a 0.',
    costs: 'At most `rounds` × `pool` × (1 + `verifications` × 2) calls; 3 × `rounds` deep.',
    source: 'DeepSeekMath-V2 (paper in its repository)',
  },
  delegate: {
    title: 'Delegation to clones',
    picture: `        ┌▶ clone ─┐
root ───┼▶ clone ─┼──▶ root ──▶ … ──▶ answer
        └▶ clone ─┘ joined, clipped`,
    protocol:
      'A root hands pieces of the task to clones of itself through a tool, in text or natively. A clone sees its objective and the passages whose keys were passed, nothing else, and has no clones of its own. Results come back in the order of the objectives, one line each, clipped so that the right side stays. Malformed calls are repaired where they can be and counted.',
    costs: 'At most `max_turns` + (`max_turns` − 1) × `max_clones` calls; two deep for each turn.',
    source: 'arXiv 2602.13262',
  },
  spawn_join: {
    title: 'Spawn and join',
    picture: `          ┌▶ child ─┐
parent ───┼▶ child ─┼──▶ parent ──▶ answer
          └▶ child ─┘ join`,
    protocol:
      'A parent spawns children with one message each, waits for all, and goes on from what they join with. A child sees neither its parent’s text beyond the message nor its siblings.',
    costs: 'At most `max_turns` + (`max_turns` − 1) × `max_children` calls; two deep for each turn.',
    source: 'arXiv 2504.15466',
  },
  team_vote: {
    title: 'Team vote',
    picture: `      ┌▶ main ───┐
item ─┼▶ strong ─┼▶ vote ──▶ answer
      └▶ weak ───┘`,
    protocol:
      'Members with endpoints and sampling of their own answer the same prompt without a coordinator; plurality wins. Replacing or masking a member leaves every other member’s requests and seeds as they were, so that a swap can be an axis of the matrix.',
    costs: '(members that are not masked) × `attempts` calls, all at once.',
    source: 'arXiv 2605.05216',
  },
  env_react: {
    title: 'Acting in a world',
    picture: `world ──▶ observation ──▶ main ──▶ action ──▶ world ──▶ … ──▶ solved, lost or out of steps`,
    protocol:
      'Observe, think, act, until the episode ends. With `skills: on` the actor is told how tasks of its kind are done, which no deployment has: the difference is what the knowledge is worth. The answer is the list of actions, which the world’s grader takes again.',
    costs: 'One call a step, in one chain, each with the latest `history` pairs.',
    source: 'arXiv 2607.27937',
  },
  route_threshold: {
    title: 'Route by a threshold',
    picture: `             ┌─ score ≥ threshold ─▶ strong ─┐
item ─ score ┤                               ├▶ answer
             └─ else ──────────────▶ weak ───┘`,
    protocol:
      'A score that costs nothing, the prompt’s length or chance, decides which model is asked. For a share p of strong calls the threshold is the (1 − p) quantile of the scores.',
    costs: '1 call.',
    source: 'arXiv 2406.18665',
  },
  route_learned: {
    title: 'Route by a fitted router',
    picture: `                   ┌─ ≥ threshold ─▶ strong ─┐
item ─ probability ┤                         ├▶ answer
                   └─ else ────────▶ weak ───┘`,
    protocol:
      'A logistic router fitted on an earlier run (`perwatt route RUN --router learned --out FILE`) tells how likely an item needs the strong model.',
    costs: '1 call.',
    source: 'arXiv 2406.18665',
  },
  cascade: {
    title: 'Cascade',
    picture: `      ┌▶ weak ─┐          ┌─ sure ──────────────▶ answer
item ─┼▶ weak ─┼─ agreed? ┤
      └▶ weak ─┘          └─ not sure ─▶ strong ─▶ answer`,
    protocol:
      'The weak model answers several times; when it agrees with itself less than the threshold, or its tokens are less likely, the strong one is asked. Attempts without an answer count against agreement.',
    costs: '`attempts` weak calls, and 1 strong call when needed.',
    source: 'arXiv 2406.18665',
  },
  minion: {
    title: 'Minion',
    picture: `task ──▶ supervisor ──▶ question ──▶ worker + document ──▶ supervisor ──▶ … ──▶ answer`,
    protocol:
      'A strong model that never sees the document questions a weak one that has it. After `max_rounds` questions it must answer.',
    costs: 'At most 2 × `max_rounds` + 1 calls in one chain.',
    source: 'arXiv 2502.15964',
  },
  minions: {
    title: 'Minions',
    picture: `task ──▶ supervisor ──▶ plan ──▶ chunks × tasks × samples ──▶ workers ──▶ supervisor ──▶ answer
              ▲                                                          │
              └──────────────────── look again ◀─────────────────────────┘`,
    protocol:
      'A strong model plans jobs over a document that it can’t see, as data in a fixed form: how to cut it and up to three tasks for each piece. Weak models do the jobs in parallel; findings without an answer are dropped and counted; the strong one puts the rest together or plans again.',
    costs: 'At most `max_rounds` × (2 + `max_jobs`) calls; three deep for each round.',
    source: 'arXiv 2502.15964',
  },
  propose_solve: {
    title: 'Propose and solve',
    picture: `item ──▶ proposer ──▶ program + input ─ run twice ─▶ valid ──▶ solver tries ──▶ success rate
                                                    └──────▶ worked examples ──▶ solver ──▶ answer`,
    protocol:
      'The model sets itself tasks of the item’s kind: programs that are run to find their outputs. What does not run, or gives another output the second time, is no task. Its own success rate gives each task its reward (0 when never solved, else 1 − rate); valid tasks become worked examples for the item.',
    costs: '`proposals` × (1 + `estimate`) + 1 calls; three deep.',
    source: 'arXiv 2505.03335',
  },
  evolve: {
    title: 'Evolve',
    picture: `item ──▶ program ──▶ archive of islands ──▶ parent + inspirations ──▶ main ──▶ changes ─┐
                       ▲                                                                │
                       └────────────── run on the examples, keep the fittest ◀──────────┘`,
    protocol:
      'A model writes a program for the shown examples, then changes the fittest by SEARCH/REPLACE blocks. Islands keep the best of each length and behaviour, and exchange their best now and then. Programs run in a small safe language only, never in this process’s own.',
    costs: 'At most `islands` × (`iterations` + 1) calls; `iterations` + 1 deep.',
    source: 'AlphaEvolve, arXiv 2506.13131',
  },
};
