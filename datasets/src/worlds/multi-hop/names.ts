import type { Rng } from '@perwatt/core';
import { pick } from '../../random.js';
import type { ObjectKind } from './relations.js';

/** Makes up names; no two are alike. */
export type Namer = (kind: Exclude<ObjectKind, 'year'>) => string;

const onsets = [...'bdfghjklmnprstvz', 'br', 'dr', 'kl', 'st', 'tr'];
const vowels = ['a', 'e', 'i', 'o', 'u'];
const codas = ['', '', '', '', 'l', 'n', 'r', 's'];
const given = [
  'Alma',
  'Bruno',
  'Clea',
  'Darius',
  'Elif',
  'Fynn',
  'Gala',
  'Hugo',
  'Ines',
  'Jonas',
  'Kira',
  'Levin',
  'Mina',
  'Nils',
  'Orla',
  'Pavel',
  'Runa',
  'Silas',
  'Tessa',
  'Ulf',
  'Vera',
  'Wanda',
  'Yann',
  'Zora',
];
const townEnds = ['burg', 'ford', 'haven', 'mond', 'stad', 'ton', 'wick', 'field'];
const companyEnds = ['Works', 'Mills', 'and Sons', 'Line', 'Foundry', 'Press', 'Trading', 'Optics'];
const filmStarts = [
  'The Silent',
  'The Last',
  'A Distant',
  'The Hidden',
  'Beyond the',
  'The Crooked',
  'Waiting for the',
  'The Golden',
];
const filmEnds = [
  'Orchard',
  'Harbour',
  'Letter',
  'Winter',
  'Staircase',
  'Garden',
  'Signal',
  'Lantern',
  'Crossing',
  'Horizon',
];
const countryEnds = ['ia', 'land', 'ora', 'estan', 'ova'];

/** A namer over random numbers; names are drawn again, and grow, until they are new. */
export function namer(rng: Rng): Namer {
  const used = new Set<string>();
  return (kind) => {
    for (let tries = 0; ; tries++) {
      const name = nameOf(rng, kind, 1 + Math.floor(tries / 8));
      if (used.has(name)) continue;
      used.add(name);
      return name;
    }
  };
}

function nameOf(rng: Rng, kind: Exclude<ObjectKind, 'year'>, extra: number): string {
  const stem = () => capital(Array.from({ length: 1 + extra }, () => syllable(rng)).join(''));
  switch (kind) {
    case 'person':
      return `${pick(rng, given)} ${stem()}`;
    case 'town':
      return `${stem()}${pick(rng, townEnds)}`;
    case 'company':
      return `${stem()} ${pick(rng, companyEnds)}`;
    case 'film':
      return `${pick(rng, filmStarts)} ${pick(rng, filmEnds)} of ${stem()}`;
    case 'country':
      return `${stem()}${pick(rng, countryEnds)}`;
    case 'river':
      return `${stem()}a`;
    case 'sea':
      return `${stem()} Sea`;
  }
}

const syllable = (rng: Rng) => `${pick(rng, onsets)}${pick(rng, vowels)}${pick(rng, codas)}`;

const capital = (word: string) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
