/** The way to a host: two methods, so that a library, the `ssh` of the system and a fake in tests are interchangeable. */

/** The end of a command. */
export interface RunResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  /** The whole standard input. */
  readonly stdin?: string;
  readonly timeoutMs: number;
}

export interface HostPort {
  /** Runs a program with arguments. @throws UnreachableHostError if the host does not answer in time */
  run(argv: readonly string[], options: CommandOptions): Promise<RunResult>;
  /** Writes a file of this machine to a path of the host, completely or not at all. @throws UnreachableHostError, or Error if the host refuses it */
  upload(file: string, path: string, options: Pick<CommandOptions, 'timeoutMs'>): Promise<void>;
  close(): void;
}

/** No command ran, or none is known to have ended: the network, sshd, the host key or the login. */
export class UnreachableHostError extends Error {
  override readonly name = 'UnreachableHostError';
}

/** The most bytes that are kept of the output of a command. */
export const MOST_OUTPUT_BYTES = 512 * 1024;

const MOST_ARGUMENT = 8 * 1024;

/**
 * One line for the shell of the host, in which every argument is a single-quoted word: the shell interprets nothing in it. sshd passes a line to the login
 * shell of the user and knows no list of arguments.
 * @throws Error for an argument that has a line break or NUL, or is too long
 */
export function quoteArguments(argv: readonly string[]): string {
  for (const argument of argv) {
    if (/[\u0000\n\r]/.test(argument)) throw new Error('an argument of a command has a line break or NUL');
    if (argument.length > MOST_ARGUMENT)
      throw new Error(`an argument of a command has more than ${MOST_ARGUMENT} characters`);
  }
  return argv.map((argument) => `'${argument.replaceAll("'", `'\\''`)}'`).join(' ');
}

/** The words of a host, and what they mean if its disk is full. */
export function explainFullDisk(words: string): string {
  if (/no space left on device|quota exceeded|write error|wrote only \d+ of/i.test(words))
    return `the disk of the host is full (${words})`;
  // dash does not say more.
  return /I\/O error/i.test(words) ? `the disk of the host is full, or fails (${words})` : words;
}

/** Why a host did not take an upload. */
export const explainRefusedUpload = (stderr: string): string =>
  `the host did not take the package: ${explainFullDisk(stderr.trim().slice(-500))}`;

const RECEIVE = 'umask 077; cat > "$1.part" && mv -f "$1.part" "$1" || { rm -f "$1.part"; exit 1; }';

/** The command that receives an upload: the file gets its name once all of it is there, and a full disk keeps nothing of it. */
export const receiveCommand = (path: string): readonly string[] => ['sh', '-c', RECEIVE, 'conveyor', path];
