import type { Loader } from '../dataset.js';
import { twoWiki } from './2wikimultihopqa/2wikimultihopqa.js';
import { aime2024 } from './aime-2024/aime-2024.js';
import { aime2025 } from './aime-2025/aime-2025.js';
import { aqua } from './aqua/aqua.js';
import { arBench } from './ar-bench/ar-bench.js';
import { arc } from './arc/arc.js';
import { autologi } from './autologi/autologi.js';
import { cruxeval } from './cruxeval/cruxeval.js';
import { gpqa } from './gpqa/gpqa.js';
import { gsm8k } from './gsm8k/gsm8k.js';
import { hotpotqa } from './hotpotqa/hotpotqa.js';
import { humaneval } from './humaneval/humaneval.js';
import { ipwMixed } from './ipw-mixed/ipw-mixed.js';
import { lmsysChat } from './lmsys-chat-1m/lmsys-chat-1m.js';
import { math } from './math/math.js';
import { math500 } from './math-500/math-500.js';
import { mmluPro } from './mmlu-pro/mmlu-pro.js';
import { musique } from './musique/musique.js';
import { naturalReasoning } from './natural-reasoning/natural-reasoning.js';
import { planbench } from './planbench/planbench.js';
import { supergpqa } from './supergpqa/supergpqa.js';
import { svamp } from './svamp/svamp.js';
import { truthfulqaMc } from './truthfulqa-mc/truthfulqa-mc.js';
import { wildchat } from './wildchat-1m/wildchat-1m.js';
import { zebralogic } from './zebralogic/zebralogic.js';

/** Every published data set, in the order of tables. */
export const allSets: readonly Loader[] = [
  gsm8k,
  svamp,
  aqua,
  math,
  math500,
  aime2024,
  aime2025,
  mmluPro,
  supergpqa,
  gpqa,
  arc,
  truthfulqaMc,
  naturalReasoning,
  zebralogic,
  planbench,
  autologi,
  arBench,
  twoWiki,
  musique,
  hotpotqa,
  humaneval,
  cruxeval,
  wildchat,
  lmsysChat,
  ipwMixed,
];
