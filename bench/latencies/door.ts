import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { each } from '../stack';

/** A call of the push type, as it passed the door. */
export interface Passed {
  readonly method: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly cameAt: number;
  readonly answeredAt: number;
}

/** The number of pages of one request in flight, as in a deploy. */
const AT_ONCE = 4;
const KEPT_HEADERS = /^(content-type|idempotency-key|authorization|x-)/;

/** A proxy in front of the push type: notes when calls arrive and are answered, and can repeat them for another service. */
export class Door {
  readonly passed: Passed[] = [];
  /** The push type itself. */
  behind = '';
  private again: readonly (readonly Passed[])[] = [];

  private constructor(readonly url: string) {}

  static open(): Promise<Door> {
    return new Promise((resolve) => {
      const server = createServer((asked, answer) => void door.take(asked, answer));
      let door: Door;
      server.listen(0, '127.0.0.1', () => {
        door = new Door(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
        resolve(door);
      });
    });
  }

  /** Repeats the calls of the service `from` for `to`; consecutive calls of one kind count as one. @returns the address of each */
  repeats(calls: readonly Passed[], from: string, to: string): string[] {
    const renamed = calls.map((call) => {
      const named = Object.entries(call.headers).map(([name, value]) => [name, value.replaceAll(from, to)]);
      const headers = Object.fromEntries(named) as Passed['headers'];
      return { ...call, headers, body: call.body.replaceAll(from, to) };
    });
    const groups: Passed[][] = [];
    for (const call of renamed) {
      const last = groups.at(-1);
      if (last?.[0]?.method === call.method) last.push(call);
      else groups.push([call]);
    }
    this.again = groups;
    return groups.map((_, nth) => `${this.url}/again/${nth}`);
  }

  private async take(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const cameAt = performance.now();
    const parts: Buffer[] = [];
    for await (const part of asked) parts.push(part as Buffer);
    const [, first = '', second = ''] = (asked.url ?? '').split('/');
    const named = Object.entries(asked.headers).filter(([name]) => KEPT_HEADERS.test(name));
    const headers = Object.fromEntries(named) as Passed['headers'];
    try {
      const { status, text } =
        first === 'again'
          ? await this.repeat(this.again[Number(second)] ?? [])
          : await this.pass({ method: first, body: Buffer.concat(parts).toString(), headers, cameAt });
      answer.writeHead(status, { 'content-type': 'application/json' }).end(text);
    } catch (error) {
      answer.writeHead(502).end(String(error));
    }
  }

  private async repeat(calls: readonly Passed[]): Promise<{ status: number; text: string }> {
    const answers = await each(calls, AT_ONCE, (call) => this.pass({ ...call, cameAt: performance.now() }));
    return answers.find(({ status }) => status >= 300) ?? { status: 200, text: '{}' };
  }

  private async pass(call: Omit<Passed, 'answeredAt'>): Promise<{ status: number; text: string }> {
    const { method, body, headers } = call;
    const response = await fetch(`${this.behind}/${method}`, { method: 'POST', body, headers });
    const text = await response.text();
    this.passed.push({ ...call, answeredAt: performance.now() });
    return { status: response.status, text };
  }
}
