/** What a recipe's page says beside its parameters and claims. */
export interface RecipeText {
  /** How the method works, drawn. */
  readonly picture: string;
  /** How it works, in words. */
  readonly method: string;
  /** The toy problem, and why it is an honest one. */
  readonly problem: string;
  /** What its figures show, and what they can't. */
  readonly reading: string;
  /** What was measured beside its claims, as a table in Markdown; absent where nothing was. */
  readonly measured?: string;
  /** Where the method is from; null for a baseline. */
  readonly source: string | null;
}

/** Pages by recipe. */
export const recipeTexts: Readonly<Record<string, RecipeText>> = {
  selfcest: {
    picture: `item ─▶ root ─┬─ alone ───────────────────────────────────▶ answer
              └─ pieces of 2, 3 or 4 ─▶ clone ┐
                                      ▶ clone ├─▶ root merges ─▶ answer
                                      ▶ clone ┘
reward: right, less what root and longest clone run over
        every clone gets its root's advantage, a gated one exactly 0`,
    method:
      'One softmax policy plays both parts. A root first chooses whether to hand its operands out in pieces; each piece goes to a clone that starts with a short context. Four rollouts of an item are one group: each gets its reward less the group mean, over the spread, and so does every token of its root and of its clones. The gate takes the gradient of clones away that ran long without an answer.',
    problem:
      'A sum of 8 to 16 operands takes one merge after the other, and a merge goes wrong the more often the longer the context it is made in: 0.004 + 0.0045 for each token there. That long contexts hurt is the premise of the method; it is built in, openly, and everything else (when to answer, when to stop rambling, how to cut) is learned. The best a policy can do is known exactly: right in 39.2 % alone at 12 tokens, in 61.2 % with pieces of three at 16, in 63.0 % with pieces of four at 15.',
    reading:
      'That delegation is learned, and that it beats voting at equal or lower cost in tokens. It does not save tokens: against the untrained policy that works alone it spends more than twice as many, and is more than four times as accurate. The policy that may not delegate stops in a local optimum of answers that are too short, well below what it could reach. The gate lowers the variance of the gradient, but training with and without it ends alike here.',
    measured: `With and without the gate, 24 seeds, mean ± standard deviation. A collapse is a final accuracy below 0.35.

| step length | gate | accuracy | tokens a query | collapses |
|---|---|---|---|---|
| 10 | on | 0.601 ± 0.021 | 21.9 ± 5.7 | 0 |
| 10 | off | 0.600 ± 0.017 | 22.7 ± 4.6 | 0 |
| 60 | on | 0.610 ± 0.016 | 26.3 ± 6.6 | 0 |
| 60 | off | 0.612 ± 0.015 | 24.9 ± 6.8 | 0 |

The gate is that of every clone without an answer. \`gate_tokens\` lets shorter ones pass, as in the claim on variance, which is
told of clones over 24 tokens.`,
    source: 'arXiv 2602.13262',
  },
  sat: {
    picture: `stage: ─▶ roll out team ─▶ update member a ─▶ KL at the 99 % quantile ≤ δ? ─ yes ─▶ keep
              ▲                                     └ no: put back, smaller step, again
              └─ the same with the new a for member b, then for c`,
    method:
      'Three members act at once and cannot talk. Members learn one after the other, each on fresh episodes with those that learned before it. An update ascends the ratio of whole episodes, clipped, with a penalty for leaving the policy that made them. It is kept only if the divergence from the old policy, at a high quantile over states, stays within δ; otherwise the member is put back bit by bit and tried again with a smaller step. A member that is swapped in starts as the mixture of its own policy and the old one that lies within δ₀ of the old one.',
    problem:
      'Each of twelve states has two conventions, worth 1 and 0.9, and a mixture of both is punished, so that two members who change at once can miss both. States come in pairs that members only tell apart when they see finely. The value of a team is computed exactly by dynamic programming, so that a stage that makes it worse is seen as such and is no noise.',
    reading:
      'That sequential, monitored updates do not lose what was reached, where unconstrained joint ones do; that the order of members is a matter of luck with seeds; that a swap needs alignment. A joint update that is clipped and takes small steps is stable here as well: the contrast is to an unconstrained one. No bound of the theory is checked: at this size it says nothing.',
    measured: `Trust region and updates that were taken back, 8 seeds of 60 stages:

| δ | share of updates taken back | final team value |
|---|---|---|
| 0.01 | 0.944 | 0.068 |
| 0.02 | 0.309 | 0.512 |
| 0.05 | 0.062 | 0.577 |
| 0.1 | 0.014 | 0.579 |
| 0.2 | 0.003 | 0.571 |

A narrow region needs smaller steps: with the default step nearly every update leaves δ = 0.01 and nothing is learned.`,
    source: 'arXiv 2605.05216',
  },
  ovcsd: {
    picture: `group all failed ─▶ tree of shared first actions ─▶ deepest point where they part
                                                       │ replay, teacher goes on
                     nearest point above ◀─ fails ─────┤
                                                       └─ succeeds ─▶ kept
kept branch ─▶ where it leaves each failed one: +√m for it, −1/√m for them
            ─▶ its later steps: towards the teacher`,
    method:
      'Episodes of one task are a group; where some succeed, the group-relative policy gradient learns from the difference. Where all fail it has nothing to go by. There a teacher — the same policy with a plan at hand — takes over at a point that the failures share, after a replay of the actions up to it. Only a branch that reaches the goal teaches: the choice where it left the failed ones, and its way from there on.',
    problem:
      'A house with six locations, closed containers, an appliance and a destination, and six kinds of tasks; deterministic, so that a replay leads to the same state, which is checked at every step. The plan is imperfect on purpose (it walks past closed containers when something is to be cooled), so that verification has something to find. A task of two objects is almost never solved by chance, which is where a policy gradient starves.',
    reading:
      'How many environment actions, joules and CPU seconds each way takes to the same success, with the actions of teacher and replays counted in. Leaving a part out changes the effort most, the suffix above all, and the final success by at most one and a half points; a teacher that takes over at random points does as well, and so do branches that nobody verified.',
    measured: `Final success after 150 steps, 8 seeds, mean ± standard deviation. The factor is the environment actions at which
\`grpo\` first reaches its own final mean over those of the training, teachers and replays counted in.

| training | success | two objects | privileged actions | verified / tried | fewer actions |
|---|---|---|---|---|---|
| \`grpo\` | 0.815 ± 0.008 | 0.05 | 0 | – | 1 |
| \`unverified_distill\` | 0.937 ± 0.006 | 0.74 | 0 | – | 1.7 |
| \`ovcsd\` | 0.956 ± 0.005 | 0.86 | 0.9 % | 119 / 159 | 3.1 |
| \`nodes=shared\` | 0.954 ± 0.007 | 0.84 | 1.3 % | 117 / 202 | 2.9 |
| \`verification=off\` | 0.959 ± 0.006 | 0.87 | 0.8 % | 105 / 142 | 2.9 |
| \`backtracking=random\` | 0.963 ± 0.009 | 0.89 | 0.8 % | 107 / 133 | 3.4 |
| \`local=0\` | 0.954 ± 0.008 | 0.83 | 0.9 % | 137 / 167 | 2.8 |
| \`suffix=0\` | 0.943 ± 0.013 | 0.82 | 4.4 % | 306 / 683 | 1.9 |

With \`nodes=shared\` verification matters more: without it one of eight seeds fell apart (0.826 ± 0.215).`,
    source: 'arXiv 2607.27937',
  },
  grpo: {
    picture: `task ─▶ 8 episodes ─▶ (success − mean) / spread ─▶ raise what succeeded, lower what failed
                       └─ all alike: nothing is learned`,
    method:
      'The baseline of ovcsd on the same house with the same seeds: the group-relative policy gradient alone.',
    problem: 'The house of ovcsd.',
    reading: 'What a policy gradient reaches without help, and that it does not get the task of two objects.',
    source: null,
  },
  unverified_distill: {
    picture: `task ─▶ 8 episodes ─▶ policy gradient
                 └─▶ every step: a little towards the teacher, whether it was right or wrong`,
    method:
      'A baseline of ovcsd: beside the policy gradient every step of every episode is pulled towards what the policy would do with the plan at hand. Nobody checks where that leads.',
    problem: 'The house of ovcsd.',
    reading:
      'It needs no privileged actions and gains on the policy gradient, at the price of a teacher asked at every step.',
    source: null,
  },
  multiagent_ft: {
    picture: `round 1: five members solve alone ─▶ each sees the others' plurality
round 2: keep, adopt or rethink ─▶ plurality = label (no truth)
generator i ◀─ its own round-1 answers that agree      critic i ◀─ its own moves that end there`,
    method:
      'Members debate, and what the debate agrees on is the label. Each member learns from its own answers only, so that they may come to differ; critics learn which moves end in agreement.',
    problem:
      'Twenty-four types of items with five ways to solve each; a way has an accuracy of its own and, when it fails, mostly one and the same wrong answer, so that agreement can be wrong together. In the hard regime it often is.',
    reading:
      'That members who learn from themselves stay different, where a shared one narrows to a single way, and that this delays collapse where the plurality misleads. It is no more accurate at the end on easy items, where the shared member also makes more updates.',
    source: 'arXiv 2501.05707',
  },
  single_ft: {
    picture: `five attempts of one member ─▶ majority = label ─▶ the member learns from all that agree`,
    method: 'The baseline of multiagent_ft: one member, asked five times, learns from its own majority.',
    problem: 'The items of multiagent_ft.',
    reading:
      'How fast learning from one’s own majority narrows a policy: its entropy falls to about a sixth.',
    source: null,
  },
  star: {
    picture: `item ─▶ attempt ─ right ──────────────────────────▶ keep ┐
              └─ wrong ─▶ again, told the answer ─▶ keep ├─▶ train the first weights anew
                                        └─ wrong: drop   ┘`,
    method:
      'A way that led to the right answer is kept; where it did not, the member tries again with the answer as a hint, and the hint is dropped from what is learned. Every round starts from the first weights.',
    problem: 'The items of multiagent_ft, here with the truth known.',
    reading:
      'What learning from verified answers costs beside learning from agreement. It needs a truth that the others do without.',
    source: 'arXiv 2203.14465',
  },
  dsm_verifier: {
    picture: `proof ─▶ 8 analyses: flags and a score
            reward = (1 − |score − truth|) × meta: are the flags real, does the score follow?`,
    method:
      'A verifier flags steps and gives a score. Paid for the score alone it may flag anything; paid also for whether its flags are real it learns which evidence means a flaw. A generator that scores itself is paid for the quality of its proof and, with a share of 0.24, for an honest score.',
    problem:
      'Proofs of six steps, each sound or flawed and showing one of four levels of evidence, never a certain one. The best score without any flag earns 0.6136 in expectation, so that silence is a temptation that is known exactly.',
    reading:
      'That invented flaws persist until flags are checked, at no cost in score accuracy, and that a self-score is honest only when it is paid. The check of the flags is a rule that knows the truth; how well a model could do it is not shown.',
    source: 'DeepSeekMath-V2',
  },
  absolute_zero: {
    picture: `proposer ─ length ─▶ program ─▶ 8 attempts of the solver ─▶ rate r
   ▲                                                   │
   └── reward: 0 if r = 0, else 1 − r ◀────────────────┴─▶ solver: right or wrong`,
    method:
      'A proposer sets tasks, a solver attempts them, and nobody else brings data. A task pays its proposer the more the rarer it is solved, and nothing when it is never solved or always.',
    problem:
      'Programs are chains of one to ten operations on sixteen digits; only the final digit is checked. The solver knows shallow operations better than deep ones, so that difficulty grows with length and has to be climbed.',
    reading:
      'That the rule makes a curriculum, how much earlier it gets there than uniform lengths, and that it fails without the zero. Where depth does not matter there is no such effect. Every proposal is a valid program here, so nothing is said of validity.',
    source: 'arXiv 2505.03335',
  },
  router_fit: {
    picture: `queries ─▶ difficulty (with noise), domain, a distractor ─▶ logistic regression
label: the cloud is right and the local model is wrong      ─▶ share of cloud calls against quality`,
    method:
      'Logistic regression on the label that counts: the cloud is right where the local model is not. Its model is kept as `router-<training>.json` in the format of `route_learned`, for prompts that carry the features: difficulty as length, the domain as code, the distractor as question marks.',
    problem:
      'Chances of being right fall with difficulty, later for the cloud; the local model is worse in one of two domains. The noise with which difficulty can be seen is a parameter, because that is what a router lives on.',
    reading:
      'How much of the quality gap a router recovers, between chance and an oracle, and how that falls with noise. It does not show that a router which is right 80 % of the time keeps 80 % of the savings at equal quality.',
    source: 'arXiv 2406.18665',
  },
  tiny_transformer: {
    picture: `3 + 5 * 2 :  3 8 5 = 5 .          one token a number or sign; after the colon the model writes
└─ given ──┘└─ written ┘

sft   worked solutions ─▶ next-token cross-entropy ─▶ AdamW
grpo  chain ─▶ 8 answers, each token drawn ─▶ right or wrong ─▶ (reward − mean) / spread
               └─▶ clipped ratio, less a divergence from the sft policy ─▶ AdamW`,
    method:
      'A decoder of two layers (width 64, four heads, 32 tokens, about 105,000 parameters in 32 bits): norm before attention and before a rectified feed-forward layer, learned positions that are counted anew after the colon, a head of its own, keys and values kept while it writes. First it learns from a fixed set of worked solutions: the value so far after each operation, then the answer. Then it writes eight answers to each new chain, and only whether the answer is right counts: what did better than its group is raised, within a clipped ratio and with a pull back to the policy of the first phase; an update after which the policy would be too far from the one that wrote is rejected. Every layer is written out with its gradient on typed arrays and held to finite differences: the library that would serve, TensorFlow.js, is fast in Node only with a native part that is downloaded when it is installed.',
    problem:
      'Chains of two to four additions, subtractions and multiplications modulo 11, from left to right. One chain in eight, by the digest of its text, is never trained on, by no seed and in neither phase; there are over eight million, so that a held-out answer has to be worked out and cannot be remembered, while the 330 single operations have to be learned by heart. Nothing is built in: the model starts from noise, the same text goes in and out that an endpoint sees, and joules are those of every product of matrices.',
    reading:
      'A real curve of accuracy over tokens and joules for supervised and then reinforced training, each phase with its own share. `accuracy` is of answers whose tokens are drawn, as the endpoint draws them; `greedy_accuracy` takes the likeliest tokens, `longer_accuracy` is of chains of five and six operations, which training never shows, and `right_steps` is the share of right answers whose every step is right. Tokens are those of worked solutions that were learned from, then those that were written. What it does not show: anything about large models, whose pre-training is most of the bill; that outcomes teach more than as many joules of further worked solutions would; or that longer chains come for free.',
    measured: `Defaults, 3 seeds, held-out chains, mean ± standard deviation over seeds; one core of a shared virtual machine, where only CPU time can be told:

| after | tokens drawn | likeliest tokens | five and six operations | CPU s, a seed |
|---|---|---|---|---|
| nothing | 0.000 | 0.000 | 0.001 | 0 |
| 800 updates | 0.361 ± 0.080 | 0.509 | 0.080 | 32 |
| 1,200 updates: end of sft | 0.820 ± 0.101 | 0.958 | 0.082 | 48 |
| fifty batches of rollouts: end of grpo | 0.826 ± 0.068 | 0.939 | 0.069 | 73 |

The gain of outcomes alone is +0.6 points (−7.6 to +8.7), which is none: one seed rose by four, two fell by one or two. No update was rejected. About 5,600 tokens a second go forward and back. Started from a policy that had been supervised for 800 updates only (0.127), fifty batches of outcomes gained nothing (0.124).`,
    source: 'arXiv 2402.03300',
  },
};
