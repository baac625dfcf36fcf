import type { TaskType } from './tasks.js';

const general = [
  'Things are often where they are used. Go to open places first; what lies there is seen from afar only once you are there.',
  'A closed place has to be opened before you can see into it, take from it or put into it.',
  'You can hold one thing: put away what you do not need before you take another.',
  'Any thing of the kind asked for will do; once you hold one, stop looking.',
];

const byType: Readonly<Record<TaskType, string>> = {
  pick: 'Find the thing, take it, go to a place of the kind asked for, open it if it is closed, and move the thing there.',
  look: 'Find the thing and take it. Go to where the lamp stands, holding the thing, and use the lamp. Do not put the thing down.',
  clean:
    'Find the thing and take it. Go to the sinkbasin and clean the thing with it before you put it away. Then go to the place asked for, open it if it is closed, and move the thing there.',
  heat: 'Find the thing and take it. Go to the microwave and heat the thing with it; it may stay closed. Then go to the place asked for, open it if it is closed, and move the thing there.',
  cool: 'Find the thing and take it. Go to the fridge and cool the thing with it; it may stay closed. Then go to the place asked for, open it if it is closed, and move the thing there.',
  pick2:
    'Find the first thing, take it and move it to a place of the kind asked for. Then find a second of its kind and move it to the very same place. Do not take the first one away again.',
};

/** How tasks of a type are done. */
export const householdSkills = (type: TaskType): string =>
  [...general, byType[type]].map((line) => `- ${line}`).join('\n');
