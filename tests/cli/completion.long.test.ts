import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** Real shells load the scripts and complete lines with the real command line, run from its sources. */
const ROOT = join(__dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'conveyor-completion-'));
const program = join(folder, 'conveyor');
const main = join(ROOT, 'cli/main.ts');
writeFileSync(
  program,
  `#!/usr/bin/env node
const { createJiti } = require(${JSON.stringify(join(ROOT, 'node_modules/jiti'))});
void createJiti(${JSON.stringify(main)}).import(${JSON.stringify(main)});
`,
);
chmodSync(program, 0o755);
mkdirSync(join(folder, 'pipelines'));
writeFileSync(join(folder, 'pipelines', 'web.yaml'), '');
afterAll(() => rmSync(folder, { recursive: true }));

/** Nobody's server: what ids there are cannot be known. */
const env = {
  PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}`,
  HOME: folder,
  TEMPORAL_ADDRESS: '127.0.0.1:1',
};

function shell(name: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(name, [...args], { cwd: folder, env, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

const has = (name: string): boolean => spawnSync(name, ['-c', 'exit 0']).status === 0;
/** Printed, so a missing shell is not taken for a working one. */
const where = (name: string): jest.It => {
  if (has(name)) return test;
  process.stderr.write(`completion of ${name} is not tested: this machine has no ${name}\n`);
  return test.skip;
};

const LINES: readonly (readonly [line: string, offered: readonly string[]])[] = [
  ['conveyor re', ['release', 'rerun', 'restore', 'resume', 'retire', 'retry', 'revert']],
  ['conveyor list releases --state q', ['queued']],
  ['conveyor completion ', ['bash', 'fish', 'zsh']],
  ['conveyor release ', []],
];

describe('bash', () => {
  /** The offers of bash with the cursor at the end of the line. */
  const offered = (line: string): string[] => {
    const script = `source <(conveyor completion bash)
complete -p conveyor >/dev/null || exit 9
COMP_WORDBREAKS=$' \\t\\n"\\'@><=;|&(:' COMP_LINE=$1 COMP_POINT=\${#1}
_conveyor
printf '%s\\n' "\${COMPREPLY[@]}"`;
    return shell('bash', ['--norc', '-c', script, 'bash', line])
      .split('\n')
      .filter((one) => one !== '')
      .sort();
  };

  test.each(LINES)('completes %j', (line, expected) => {
    expect(offered(line)).toEqual(expected);
  });

  test('replaces only what follows its last word break', () => {
    expect(offered('conveyor list --output=js')).toEqual(['json', 'jsonl']);
  });

  test('looks for files itself', () => {
    expect(offered('conveyor lint pipelines/w')).toEqual(['pipelines/web.yaml']);
  });
});

where('zsh')('zsh takes its script', () => {
  expect(
    shell('zsh', ['-f', '-c', 'source <(conveyor completion zsh); typeset -f _conveyor >/dev/null && print taken']),
  ).toBe('taken\n');
});

describe('fish', () => {
  where('fish').each(LINES)('completes %j', (line, expected) => {
    const script = 'conveyor completion fish | source; complete -C $argv[1]';
    const lines = shell('fish', ['--no-config', '-c', script, line]).split('\n');
    expect(
      lines
        .map((one) => one.split('\t')[0])
        .filter((one) => one !== '')
        .sort(),
    ).toEqual(expected);
  });
});
