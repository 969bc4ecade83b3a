import { readFileSync } from 'node:fs';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { GIT_COMMIT_LIMITS } from '../../sdk';

export interface HttpGetOptions {
  /** A file with a bearer token; it is read again for each request, since tokens of accounts expire. */
  readonly token?: string | undefined;
  /** A file with the authorities that may have signed the certificate; by default those of Node. */
  readonly ca?: string | undefined;
  readonly timeoutMs: number;
}

/** One GET; no redirection is followed, so the token goes nowhere else. @throws Error that says in words why there is no answer */
export function httpGet(address: string, { token, ca, timeoutMs }: HttpGetOptions): Promise<string> {
  const url = new URL(address);
  const headers = {
    accept: 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${readFileSync(token, 'utf8').trim()}` }),
  };
  const authority = ca === undefined ? {} : { ca: readFileSync(ca) };
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    const request = send(url, { headers, ...authority, signal: AbortSignal.timeout(timeoutMs) }, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > GIT_COMMIT_LIMITS.answer.max)
          request.destroy(new Error(`it sent more than ${GIT_COMMIT_LIMITS.answer.max} bytes`));
        else chunks.push(chunk);
      });
      response.on('error', reject);
      response.on('end', () => {
        const { statusCode = 0 } = response;
        if (statusCode >= 200 && statusCode < 300) resolve(Buffer.concat(chunks).toString('utf8'));
        else reject(new Error(`it answered ${statusCode}${STATUS_HINTS[statusCode] ?? ''}`));
      });
    });
    request.on('error', (error) =>
      reject(
        error.name === 'TimeoutError' || error.name === 'AbortError'
          ? new Error(`no answer within ${timeoutMs} ms`)
          : error,
      ),
    );
    request.end();
  });
}

const STATUS_HINTS: Readonly<Record<number, string>> = {
  401: ': the token is wrong or has expired',
  403: ': the token lacks the right to read it',
  404: ': there is no such object',
};
