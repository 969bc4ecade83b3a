import { spawn } from 'node:child_process';
import { createReadStream, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { explainRefusedUpload, receiveCommand, type HostPort, type RunResult } from '../../push-types/hosts/port';

/** A host that is a folder of this machine: the script of the push type runs in a real shell, over programs that play systemd, sudo and curl. */
export class LocalHost implements HostPort {
  readonly folder = mkdtempSync(join(tmpdir(), 'conveyor-host-'));
  readonly root: string;
  /** Kills the shell after so many milliseconds. */
  killAfterMs: number | undefined;

  /** With another place for its applications, such as a small disk. */
  constructor(root?: string) {
    this.root = root ?? join(this.folder, 'srv');
    mkdirSync(join(this.folder, 'bin'));
    this.program('sudo', 'shift; exec "$@"');
    this.program(
      'curl',
      `if [ -f ${this.folder}/serving ]; then printf '{"version":"%s"}\\n200' "$(cat ${this.folder}/serving)"; else printf 'refused\\n000'; fi`,
    );
    this.program(
      'systemctl',
      `case $1 in
show) if [ -f ${this.folder}/invocation ]; then printf 'InvocationID=%s\\nActiveState=active\\nSubState=running\\nNRestarts=0\\n' "$(cat ${this.folder}/invocation)"; else printf 'InvocationID=\\nActiveState=inactive\\n'; fi ;;
restart) date +%s%N | md5sum | cut -c 1-32 > ${this.folder}/invocation; cat ${this.root}/current/VERSION > ${this.folder}/serving; echo started >> ${this.folder}/starts ;;
stop) rm -f ${this.folder}/invocation ${this.folder}/serving ;;
esac`,
    );
  }

  program(name: string, text: string): void {
    writeFileSync(join(this.folder, 'bin', name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }

  run(argv: readonly string[], { stdin = '' }: { stdin?: string }): Promise<RunResult> {
    return this.start(argv, (input) => void input.end(stdin));
  }

  async upload(file: string, path: string): Promise<void> {
    const { code, stderr } = await this.start(receiveCommand(path), (input) => void createReadStream(file).pipe(input));
    if (code !== 0) throw new Error(explainRefusedUpload(stderr));
  }

  read(file: string): string {
    return readFileSync(join(this.folder, file), 'utf8').trim();
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private start(argv: readonly string[], feed: (input: NodeJS.WritableStream) => void): Promise<RunResult> {
    const [program = '', ...args] = argv;
    const env = { PATH: `${join(this.folder, 'bin')}:/usr/bin:/bin` };
    return new Promise((resolve, reject) => {
      const child = spawn(program, args, { env, detached: true });
      const kill = (): void => void (child.pid !== undefined && process.kill(-child.pid, 'SIGKILL'));
      const timer = this.killAfterMs === undefined ? undefined : setTimeout(kill, this.killAfterMs);
      const texts = { stdout: '', stderr: '' };
      child.stdout.on('data', (text) => (texts.stdout += String(text)));
      child.stderr.on('data', (text) => (texts.stderr += String(text)));
      child.stdin.on('error', () => undefined);
      child.on('error', reject);
      child.on('close', (code) => {
        clearTimeout(timer);
        resolve({ code: code ?? 137, ...texts });
      });
      feed(child.stdin);
    });
  }
}
