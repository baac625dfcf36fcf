import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { createRedactor } from './redactor.js';

const facts = {
  hosts: ['lab-7.example.org', 'gpu-box', '10.1.2.3', 'vm'],
  users: ['alice'],
  homes: ['/srv/home/alice'],
  secrets: ['hunter2!xyz', 'p@ss/w"rd 1'],
};
const change = (text: string) => createRedactor(facts).change(text);

describe('a text', () => {
  // biome-ignore format: a table is read in columns
  test.each([
    ['ran on lab-7.example.org',                        'ran on host-1',                            'the long name of a host'],
    ['LAB-7: out of memory',                            'host-1: out of memory',                    'its short name, in any case'],
    ['http://gpu-box:8000/v1',                          'http://host-2:8000/v1',                    'a host in an address'],
    ['10.1.2.3 refused',                                'host-3 refused',                           'an address of numbers'],
    ['mygpu-boxes',                                     'mygpu-boxes',                              'a name within a longer word is none'],
    ['vm',                                              'host-4',                                   'unless it stands alone'],
    ['the vm is slow',                                  'the vm is slow',                           'a host of two letters is not looked for'],
    ['/home/bob/models/a.gguf',                         '~/models/a.gguf',                          'the home of a user nobody named'],
    ['"/Users/jane doe"',                               '"~ doe"',                                  'a home on a Mac, up to the blank'],
    ['C:\\Users\\jane\\x.yaml',                         '~\\x.yaml',                                'a home on Windows'],
    ['/srv/home/alice/x and /root/y, /rooted',         '~/x and ~/y, /rooted',                     'homes in other places'],
    ['model of alice, not malice',                      'model of user, not malice',                'a user as a word'],
    ['say hunter2!xyz now',                             'say [redacted] now',                       'a key that is known'],
    ['p%40ss%2Fw%22rd%201',                             '[redacted]',                               'a key in an address'],
    ['p@ss/w\\"rd 1',                                   '[redacted]',                               'a key in JSON'],
    [Buffer.from('hunter2!xyz').toString('base64'),     expect.not.stringContaining('aHVudGVy'),    'a key in base64'],
    ['https://me:geheim@box.lan/v1',                    'https://[redacted]@box.lan/v1',            'a password in an address'],
    ['GET /v1?api_key=abc&n=1',                         'GET /v1?api_key=[redacted]&n=1',           'a key behind a question mark'],
    ['Authorization: Bearer abcdef123456',              'Authorization: Bearer [redacted]',         'a header'],
    ['bearer sk1234567890abcdef',                       'bearer [redacted]',                        'a token after its kind'],
    ['vllm --api-key geheimnis --port 80',              'vllm --api-key [redacted] --port 80',      'a flag'],
    ['"HF_TOKEN": "abcdefgh12345678"',                  '"HF_TOKEN": "[redacted]"',                 'a name that says that it is a key'],
    ['sk-proj-abcdefghijklmnop',                        '[redacted]',                               'the shape of a key'],
    ['ghp_abcdefghijklmnopqrst1234',                    '[redacted]',                               'the shape of another'],
    ['AKIAABCDEFGHIJKLMNOP',                            '[redacted]',                               'and of another'],
    ['-----BEGIN RSA PRIVATE KEY-----\nx\n-----END RSA PRIVATE KEY-----', '[redacted]',             'a private key of several lines'],
    ['"completion_tokens":128000,"token_source":"server"', '"completion_tokens":128000,"token_source":"server"', 'counts of tokens are no keys'],
    ['--max-token 128000 --tokenizer auto',             '--max-token 128000 --tokenizer auto',      'nor are flags that count'],
    ['What is basic arithmetic? bearer instruments',    'What is basic arithmetic? bearer instruments', 'nor are words'],
    ['d41d8cd98f00b204e9800998ecf8427e',                'd41d8cd98f00b204e9800998ecf8427e',         'nor is a digest'],
  ])('%j becomes %j: %s', (text, wanted, _why) => {
    expect(change(text)).toEqual(wanted);
  });

  test('that holds a name to keep is left as it is', () => {
    const redactor = createRedactor(facts, ['gpu-box', 'alice']);
    expect(redactor.change('alice on gpu-box and lab-7')).toBe('alice on gpu-box and host-1');
  });

  test('of what was taken out the kinds are counted', () => {
    const redactor = createRedactor(facts);
    redactor.change('alice at /home/bob on lab-7, gpu-box: hunter2!xyz');
    expect(redactor.counts()).toEqual({ hosts: 2, users: 1, home_paths: 1, secrets: 1 });
  });

  property.prop([
    fc.string({
      unit: fc.constantFrom(
        'a',
        '-',
        '/',
        ':',
        '@',
        '=',
        ' ',
        '"',
        'key',
        'token',
        '-----BEGIN ',
        'http://',
        '/home/',
        '1',
      ),
    }),
  ])('never keeps a key, wherever it stands', (text) => {
    const once = change(`${text} hunter2!xyz ${text}`);
    expect(once).not.toContain('hunter2!xyz');
  });

  test('of a megabyte without a break takes no more than a linear time', () => {
    for (const unit of [
      'a',
      'a-',
      'key=',
      '/home/',
      'http://a',
      'Authorization: ',
      '-----BEGIN PRIVATE KEY-----',
    ])
      expect(change(unit.repeat(Math.ceil(2 ** 20 / unit.length))).length).toBeGreaterThan(0);
  }, 20_000);
});
