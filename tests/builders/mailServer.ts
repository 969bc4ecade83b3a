import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly user: string | undefined;
  readonly isEncrypted: boolean;
  /** Headers and text as they came. */
  readonly source: string;
}

/** A real SMTP server on this machine. Its certificate is its own. */
export class MailServer {
  private constructor(
    private readonly server: SMTPServer,
    readonly port: number,
    readonly mails: readonly ReceivedMail[],
  ) {}

  /** @param refuse the answer to a recipient, such as 550; undefined to accept */
  static async open(
    options: SMTPServerOptions = {},
    refuse: (address: string) => number | undefined = () => undefined,
  ): Promise<MailServer> {
    const mails: ReceivedMail[] = [];
    const server = new SMTPServer({
      disabledCommands: ['AUTH'],
      logger: false,
      onRcptTo: ({ address }, _session, done) => {
        const code = refuse(address);
        done(code === undefined ? null : Object.assign(new Error('refused'), { responseCode: code }));
      },
      onData: (stream, { envelope, user, secure }, done) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          const from = envelope.mailFrom ? envelope.mailFrom.address : '';
          const to = envelope.rcptTo.map(({ address }) => address);
          mails.push({ from, to, user, isEncrypted: secure, source: Buffer.concat(chunks).toString() });
          done();
        });
      },
      ...options,
    });
    server.on('error', () => undefined);
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    return new MailServer(server, (server.server.address() as AddressInfo).port, mails);
  }

  async close(): Promise<void> {
    await new Promise<void>((closed) => this.server.close(closed));
  }
}
