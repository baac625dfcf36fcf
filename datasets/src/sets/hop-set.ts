import { fieldOf, optionalText } from '../rows.js';
import type { DatasetCard } from './card.js';
import { fileSet } from './file-set.js';
import { firstText } from './first-text.js';
import { answersOf, evidenceOf, materialOf, passagesOf, passageValues, supportOf } from './hop-records.js';
import { shortClosedBook, shortLongBench, shortOurs } from './shared-prompts.js';

/** Multi-hop questions in the record format of HotpotQA, which 2WikiMultiHopQA shares. */
export const hopSet = (card: DatasetCard) =>
  fileSet({
    card,
    answer_tokens: 512,
    prompts: { ours: shortOurs, official: shortLongBench, 'closed-book': shortClosedBook },
    read(row, { index }) {
      const [gold, ...aliases] = answersOf(row, fieldOf(row, 'answer') === undefined ? 'Answer' : 'answer');
      const id =
        optionalText(row, '_id') ?? optionalText(row, 'id') ?? optionalText(row, 'test_id') ?? `${index}`;
      const question = firstText(row, ['question', 'Question']);
      const passages = passagesOf(row);
      const [support, evidence] = [supportOf(row), evidenceOf(row)];
      return {
        id,
        question,
        gold,
        aliases,
        subject: optionalText(row, 'type'),
        data: {
          kind: 'em_f1',
          f1: 'hotpot',
          ...(support.length > 0 && { support }),
          ...(evidence !== null && { evidence }),
        },
        values: passageValues(passages),
        ...materialOf(question, passages),
      };
    },
  });
