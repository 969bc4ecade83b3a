import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { parsePipeline } from '../../domain/spec/parse';
import { deployConfigSchema } from '../../push-types/git-commit/deployConfig';
import { loadGitCommitSettings } from '../../push-types/git-commit/settings';
import { readDeployUnits } from '../../push-types/git-commit/units';

const ROOT = join(__dirname, '../..');
const EXAMPLE = join(ROOT, 'examples/gitops');

describe('the example of deploys by Git', () => {
  test('has a pipeline whose config fits its settings', () => {
    const text = readFileSync(join(EXAMPLE, 'pipeline.yaml'), 'utf8');
    expect(parsePipeline(text).problems).toEqual([]);
    const { actions } = parse(text) as { actions: { deploy: { with: { config: Record<string, unknown> } } } };
    const folder = mkdtempSync(join(tmpdir(), 'conveyor-settings-'));
    const file = join(folder, 'settings.yaml');
    writeFileSync(file, readFileSync(join(EXAMPLE, 'settings.yaml'), 'utf8').replaceAll('FOLDER', folder));
    const { units, problems } = readDeployUnits(loadGitCommitSettings(file), actions.deploy.with.config, 'shop-gitops');
    expect(problems).toEqual([]);
    rmSync(folder, { recursive: true });
    expect([...units.keys()]).toEqual(['shop-staging', 'shop-eu', 'shop-us']);
  });

  test('has fields that the reference lists, and each of them is one', () => {
    const page = readFileSync(join(ROOT, 'docs/reference/git-commit.md'), 'utf8');
    const listed = [...page.matchAll(/^\| `(\{ (?:kustomize|container|helm|key): .*?\})`/gm)].map(
      ([, field = '']) => field,
    );
    expect(listed).toHaveLength(6);
    for (const field of listed)
      expect(
        deployConfigSchema.safeParse({
          service: 'a',
          repository: 'r',
          path: 'a.yaml',
          environments: ['eu'],
          field: parse(field) as unknown,
        }).success,
      ).toBe(true);
  });
});

describe('the settings of the guide', () => {
  const guide = readFileSync(join(ROOT, 'docs/guides/gitops.md'), 'utf8');
  const blocks = [...guide.matchAll(/```yaml\n([^]*?)```/g)].map(
    ([, text = '']) => parse(text) as Record<string, unknown>,
  );

  test('are accepted, with the wait for Flux in the place of that for Argo CD', () => {
    const settings = blocks.find((block) => 'repositories' in block);
    const wait = blocks.find((block) => 'wait' in block)?.['wait'];
    const folder = mkdtempSync(join(tmpdir(), 'conveyor-settings-'));
    const file = join(folder, 'gitops.yaml');
    for (const environments of [settings?.['environments'], { eu: { wait } }]) {
      writeFileSync(file, stringify({ ...settings, environments }));
      expect(Object.keys(loadGitCommitSettings(file).environments)).toEqual(['eu']);
    }
    rmSync(folder, { recursive: true });
  });
});

describe('settings', () => {
  test.each([
    [
      'a password in a URL',
      { repositories: { r: { url: 'https://user:secret@git.example.com/a', committer: { name: 'c', email: 'c@x' } } } },
      'repositories.r.url: expected ssh://',
    ],
    [
      'an address of a program',
      { repositories: { r: { url: 'ext::sh -c true', committer: { name: 'c', email: 'c@x' } } } },
      'repositories.r.url: expected ssh://',
    ],
    [
      'a token over http',
      { environments: { eu: { wait: { argocd: 'http://argocd.example.com', token: 't' } } } },
      'environments.eu.wait.argocd: expected https',
    ],
    [
      'a wait that is none',
      { environments: { eu: { wait: { argo: 'x' } } } },
      'environments.eu.wait: expected argocd, flux, program or url',
    ],
    [
      'a key with a space',
      { repositories: { r: { url: 'ssh://git@h/a', key: '/a b', committer: { name: 'c', email: 'c@x' } } } },
      'repositories.r.key: expected a path without spaces',
    ],
  ])('are refused with the place: %s', (_, part, message) => {
    const folder = mkdtempSync(join(tmpdir(), 'conveyor-settings-'));
    const file = join(folder, 'gitops.yaml');
    writeFileSync(file, stringify({ repositories: {}, environments: {}, ...part }));
    expect(() => loadGitCommitSettings(file)).toThrow(message);
    rmSync(folder, { recursive: true });
  });
});
