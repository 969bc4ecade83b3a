import type { Artifact } from '../../../domain/artifact';
import { ConveyorError } from '../../../domain/errors';
import { ARTIFACT_LIMITS, REQUEST_LIMITS, SPEC_LIMITS, WHERE_LIMITS } from '../../../domain/limits';
import { jsonBytes } from '../../../domain/size';
import { findMatch, listCandidates, parseQuestion } from '../../../domain/where/revision';
import { listReleaseLabels } from '../../../domain/where/words';

const SHA = '4f0c1d2e9b8a7c6d5e4f3a2b1c0d9e8f7a6b5c4d';
const DIGEST = `sha256:${'9d8e7f6a'.repeat(8)}`;
const built = (revision: string, more: Partial<Artifact> = {}): Artifact => ({
  ...{ name: 'executable', kind: 'executable', version: 'kv:12', metadata: {} },
  builtFrom: { repository: 'acme/kv', revision },
  ...more,
});
const plain = (version: string, more: Partial<Artifact> = {}): Artifact => ({
  ...{ name: 'source', kind: 'source', version, metadata: {} },
  ...more,
});

/** Whether Temporal would list the release for the question, and whether its artifacts match then. */
function finds(asked: string, artifacts: readonly Artifact[]) {
  const question = parseQuestion(asked);
  const labels = listReleaseLabels({ kind: 'webhook' }, artifacts);
  const match = findMatch(question, artifacts);
  return {
    isListed: question.words.some((word) => labels.includes(word)),
    ...(match && { by: match.by, revision: match.revision }),
  };
}

test.each<[title: string, asked: string, artifacts: readonly Artifact[], by: string, revision: string]>([
  ['the commit that it was built from', SHA, [built(SHA)], 'revision', SHA],
  ['an abbreviation of it', SHA.slice(0, 9), [built(SHA)], 'revision', SHA],
  ['the shortest abbreviation', SHA.slice(0, 7), [built(SHA)], 'revision', SHA],
  ['upper case', SHA.toUpperCase(), [built(SHA)], 'revision', SHA],
  ['a commit that was recorded in upper case', SHA.slice(0, 12), [built(SHA.toUpperCase())], 'revision', SHA],
  ['spaces around it', ` ${SHA}\n`, [built(SHA)], 'revision', SHA],
  [
    'the full commit of one that was recorded abbreviated',
    SHA,
    [built(SHA.slice(0, 10))],
    'revision',
    SHA.slice(0, 10),
  ],
  ['a commit that is the version, as a webhook sends it', SHA.slice(0, 8), [plain(SHA)], 'revision', SHA],
  ['a commit in the tag of an image', SHA.slice(0, 8), [plain(`kv:${SHA.slice(0, 12)}`)], 'revision', SHA.slice(0, 12)],
  ['a commit as git describe writes it', SHA, [plain(`v1.2-14-g${SHA.slice(0, 8)}`)], 'revision', SHA.slice(0, 8)],
  ['a change of configuration by its commit', SHA.slice(0, 7), [plain(`12@${SHA}`)], 'revision', SHA],
  ['a change of configuration by its version', `12@${SHA}`, [plain(`12@${SHA}`)], 'version', `12@${SHA}`],
  ['a commit of a repository with SHA-256', 'ab'.repeat(32), [built('ab'.repeat(32))], 'revision', 'ab'.repeat(32)],
  ['a number of another version control', '4711', [built('4711')], 'revision', '4711'],
  ['a version', 'kv:12', [built(SHA)], 'version', 'kv:12'],
  ['an artifact with its version', 'executable@kv:12', [built(SHA)], 'version', 'kv:12'],
  ['an identity with its digest', `executable@kv:12#${DIGEST}`, [built(SHA, { digest: DIGEST })], 'version', 'kv:12'],
  ['a digest', DIGEST, [built(SHA, { digest: DIGEST })], 'digest', DIGEST],
  ['the beginning of a digest', DIGEST.slice(0, 19), [built(SHA, { digest: DIGEST })], 'digest', DIGEST],
  ['a digest without its algorithm', '9d8e7f6a9d8e', [built(SHA, { digest: DIGEST })], 'digest', DIGEST],
  [
    'a long version with quotes',
    `it's "${'x'.repeat(150)}"`,
    [plain(`it's "${'x'.repeat(150)}"`)],
    'version',
    `it's "${'x'.repeat(150)}"`,
  ],
  ['the output of a build beside its source', 'kv:12', [plain(SHA), built(SHA)], 'version', 'kv:12'],
])('a release is found by %s', (_title, asked, artifacts, by, revision) => {
  expect(finds(asked, artifacts)).toEqual({ isListed: true, by, revision });
});

test.each<[title: string, asked: string, artifacts: readonly Artifact[]]>([
  ['the beginning of a version', 'kv:1', [built(SHA)]],
  ['an abbreviation that is too short', SHA.slice(0, 6), [built(SHA)]],
  ['the end of a commit', SHA.slice(-12), [built(SHA)]],
  ['another commit with the same first digits', `${SHA.slice(0, 7)}00000`, [built(SHA)]],
  ['a commit with a digit too many', `${SHA}0`, [built(SHA)]],
  ['the version of another artifact', 'source@kv:12', [built(SHA)]],
  ['the version in other case', 'KV:12', [built(SHA)]],
])('a release is not found by %s', (_title, asked, artifacts) => {
  expect(finds(asked, artifacts)).not.toHaveProperty('by');
});

test.each([
  ['', 'no revision is given'],
  ['  \n', 'no revision is given'],
  ['4f0c\u001b[2J', 'the revision has the control character U+001B at character 5'],
  ['x'.repeat(REQUEST_LIMITS.word.max + 1), 'the revision has 641 bytes; the limit is 640'],
])('%j is refused as no revision', (text, message) => {
  expect(() => parseQuestion(text)).toThrow(ConveyorError);
  expect(() => parseQuestion(text)).toThrow(message);
});

test('a question has no character that ends a word of a query, whatever a person types', () => {
  for (const text of [`x' OR WorkflowType = 'pipeline`, '"\\', 'ä ö', '🙂'.repeat(60), `1@${'z'.repeat(600)}`])
    for (const word of parseQuestion(text).words) expect(word).toMatch(/^[\w=.:@/+~-]{1,60}$/);
});

describe('an abbreviation', () => {
  const other = `${SHA.slice(0, 8)}${'0'.repeat(32)}`;
  const candidates = (asked: string, ...revisions: string[]) =>
    listCandidates(
      parseQuestion(asked),
      revisions.map((revision) => ({ revision })),
    );

  test('that fits two commits names both', () => {
    expect(candidates(SHA.slice(0, 8), SHA, other, SHA)).toEqual([SHA, other]);
  });
  test('that fits one commit is that commit, however it was recorded', () => {
    expect(candidates(SHA.slice(0, 8), SHA, SHA.slice(0, 10))).toEqual([SHA]);
  });
  test('that is itself a recorded revision means that', () => {
    expect(candidates(SHA.slice(0, 8), SHA, SHA.slice(0, 8), other)).toEqual([SHA.slice(0, 8)]);
  });
  test('that nothing matches has none', () => {
    expect(candidates(SHA.slice(0, 8))).toEqual([]);
  });
});

describe('the labels of a release', () => {
  test('name its trigger, its revisions and digests by their first digits, and its versions', () => {
    expect(listReleaseLabels({ kind: 'rollback' }, [built(SHA, { digest: DIGEST })])).toEqual([
      ...['trigger=rollback', 'revision=4f0c1d2', 'digest=9d8e7f6', 'version=kv:12'],
    ]);
  });

  test('are there without artifacts, too', () => {
    expect(listReleaseLabels({ kind: 'undeploy' }, [])).toEqual(['trigger=undeploy']);
  });

  test('fit into a search attribute, with every revision and every digest, for the largest release', () => {
    const count = REQUEST_LIMITS.artifacts.max + SPEC_LIMITS.outputsTogether.max;
    const many = Array.from({ length: count }, (_, n) => {
      const hex = (n + 1).toString(16).padStart(7, '0');
      return built(`${hex}${'f'.repeat(33)}`, {
        name: `artifact-${n}`,
        version: `${'ä'.repeat(ARTIFACT_LIMITS.version.max / 2 - 3)}${n}`,
        digest: `sha512:${`${n}e`.padStart(7, 'a')}${'0'.repeat(121)}`,
      });
    });
    const labels = listReleaseLabels({ kind: 'webhook' }, many);
    expect(labels.filter((label) => label.startsWith('revision='))).toHaveLength(count);
    expect(labels.filter((label) => label.startsWith('digest='))).toHaveLength(count);
    expect(jsonBytes(labels)).toBeGreaterThan(WHERE_LIMITS.words.max - 100);
    expect(jsonBytes(labels)).toBeLessThan(2_000);
  });
});
