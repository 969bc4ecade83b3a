import type { Artifact } from '../../domain/artifact';
import { NOT_BEGUN, recordAnswer, buildSubmissions } from '../../domain/finder/sweep';
import { whyNotPlain } from '../../domain/plainText';
import { sendCommand } from '../../client/commands';
import { createRelease } from '../../client/releases';
import type { Workflows } from '../../client/workflows';
import { safe } from '../../render/paint';
import { run } from '../builders/cliWorld';
import { artifact, manual } from '../builders/pipelineWorld';
import { appOf, FakePipelines, standardDelivery, TOKEN } from '../builders/serverWorld';

/** A server that must not be asked. */
const NOBODY = {} as Workflows;

const UNFIT: readonly [what: string, text: string][] = [
  ['NUL', 'a\u0000b'],
  ['a line break', 'a\nb'],
  ['a tab', 'a\tb'],
  ['ESC', 'a\u001b[2J'],
  ['DEL', 'a\u007f'],
  ['C1', 'a\u009b2J'],
  ['a line separator', 'a\u2028b'],
  ['a turn of direction', 'a\u202eb'],
  ['an isolate', 'a\u2066b'],
  ['half a pair', 'a\ud83d'],
];

test.each(['kv:12', 'größer ✔ 🚀', 'Ünïcode مرحبا', 'a b'])('%s is plain', (text) =>
  expect(whyNotPlain(text)).toBeUndefined(),
);

const wrong: readonly [what: string, artifact: Artifact, says: string][] = [
  ...UNFIT.map(([what, text]): [string, Artifact, string] => [
    `${what} in a version`,
    artifact(text),
    'the version of',
  ]),
  ['an empty version', artifact(''), 'the version of the artifact executable is empty'],
  ['a blank version', artifact('  '), 'the version of the artifact executable is empty'],
  ['an empty name', artifact('1', ''), 'the name of the artifact  is empty'],
  [
    'ESC in a name',
    artifact('1', 'x\u001b[2J'),
    'the name of the artifact x\\u001b[2J has the control character U+001B',
  ],
  ['ESC in a digest', { ...artifact('1'), digest: 'sha\u001b' }, 'the digest'],
  ['ESC in metadata', { ...artifact('1'), metadata: { by: 'a\u001bb' } }, 'an entry of metadata'],
  ['a line break in a key of metadata', { ...artifact('1'), metadata: { 'a\nb': '1' } }, 'a key of metadata'],
  [
    'ESC in where it was built from',
    { ...artifact('1'), builtFrom: { repository: '\u001b', revision: 'r' } },
    'builtFrom',
  ],
];

test('metadata may have several lines, as the message of a commit has', async () => {
  const commit = { ...artifact('1a2b'), metadata: { message: 'Mend the index\r\n\n\t- of names\n' } };
  const found = [{ pipeline: 'kvstore', artifact: commit }];
  const asked = [{ pipeline: 'kvstore', artifact: commit.name, with: {} }];
  expect(buildSubmissions('commits', { asked } as never, { found, refused: [] } as never)).toHaveLength(1);
  const data = { pipeline: 'kvstore', artifacts: [commit] };
  const pipelines = new FakePipelines();
  const sent = await appOf(pipelines).request(
    '/v1/webhooks/standard',
    standardDelivery({ type: 'artifact.published', data }),
  );
  expect(sent.status).not.toBe(400);
});

describe.each(wrong)('%s', (_, given, says) => {
  test('is refused on the command line and wherever a program releases', async () => {
    const error = { code: 'invalid-text', exit: 2, message: expect.stringContaining(says) };
    await expect(createRelease(NOBODY, 'kvstore', { artifacts: [given], trigger: manual() })).rejects.toMatchObject(
      error,
    );
  });

  test('is refused by the API and in a delivery with 400, and starts nothing', async () => {
    const pipelines = new FakePipelines();
    const api = await appOf(pipelines).request('/v1/pipelines/kvstore/releases', {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}` },
      body: JSON.stringify({ artifacts: [given] }),
    });
    const data = { pipeline: 'kvstore', artifacts: [given] };
    const sent = standardDelivery({ type: 'artifact.published', data });
    expect([api.status, (await appOf(pipelines).request('/v1/webhooks/standard', sent)).status]).toEqual([400, 400]);
    expect([pipelines.submissions, pipelines.calls]).toEqual([[], []]);
  });

  test('is refused where a finder finds it, and shown', () => {
    const page = { cursor: null, pipelines: 1, asked: [{ pipeline: 'kvstore', artifact: given.name, with: {} }] };
    const answer = { found: [{ pipeline: 'kvstore', artifact: given }], cursor: '1', refused: [] };
    expect(buildSubmissions('mine', page, answer)).toEqual([]);
    expect(recordAnswer(NOT_BEGUN, page, answer)).toMatchObject({ refused: 1, said: [expect.stringContaining(says)] });
  });
});

test.each(UNFIT)('%s in a key or a reason is refused', async (_, text) => {
  const error = { code: 'invalid-text' };
  await expect(createRelease(NOBODY, 'kvstore', { artifacts: [], trigger: manual(text) })).rejects.toMatchObject(error);
  await expect(sendCommand(NOBODY, 'kvstore', 'freeze', { actor: 'user:a', reason: text })).rejects.toMatchObject(
    error,
  );
  const response = await appOf().request('/v1/pipelines/kvstore/commands/freeze', {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify({ reason: `x${text}x` }),
  });
  expect(response.status).toBe(400);
});

describe('text stored by older versions', () => {
  const history = () => Promise.resolve([{ id: 'kv/1', state: 'gone\u001b[2J\u202e', artifacts: [] }] as never);

  test('moves no cursor when it is printed, while our own colours stay', () => {
    expect(safe('\u001b[1mkv\u001b[22m \u001b[31m✖\u001b[39m\nnext', true)).toBe(
      '\u001b[1mkv\u001b[22m \u001b[31m✖\u001b[39m\nnext',
    );
    expect(safe('a\u001b[2J\u001b[8m\u009b2J\u202e\rb', true)).toBe('a\\u001b[2J\\u001b[8m\\u009b2J\\u202e\\u000db');
    expect(safe('a\u001b[31m', false)).toBe('a\\u001b[31m');
  });

  test.each(['table', 'name', 'yaml', 'json', 'jsonl'])(
    'holds nothing that moves a cursor with -o %s',
    async (format) => {
      const status = () => Promise.reject(new Error('x\u001b[2J\u009b'));
      for (const argv of [
        ['status', 'kv'],
        ['history', 'kv'],
      ]) {
        const ran = await run([...argv, '-o', format], { client: { status, history } });
        expect(`${ran.out}${ran.err}`).not.toMatch(/[\u001b\u009b\u202e]/);
      }
    },
  );

  test('is the same for programs', async () => {
    const ran = await run(['history', 'kv', '-o', 'json'], { client: { history } });
    expect(JSON.parse(ran.out)).toEqual(await history());
  });
});
