import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { SESSION_LIMITS } from '../../domain/limits';
import { isSameSecret } from '../../settings/secrets';

/** A value for one purpose is never taken for another. */
export type Purpose = 'session' | 'sign-in' | 'notice';

/** Name, value and attributes together have 4,096 bytes. */
const MAX_COOKIE_BYTES = SESSION_LIMITS.cookie.max;

/** Encrypts with the first secret, and decrypts with all of them, so that a secret can be replaced. */
export class Vault {
  /** Without a secret in the configuration, nothing outlives the process. */
  private readonly own = randomBytes(32).toString('hex');
  private readonly keys = new Map<string, Uint8Array>();

  constructor(private readonly secrets: () => readonly string[]) {}

  /** Undefined if it would not fit into a cookie. */
  async seal(purpose: Purpose, value: object): Promise<string | undefined> {
    const { CompactEncrypt } = await import('jose');
    const [secret = this.own] = this.secrets();
    const text = await new CompactEncrypt(Buffer.from(JSON.stringify(value)))
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', zip: 'DEF' })
      .encrypt(this.key(secret, purpose));
    return text.length <= MAX_COOKIE_BYTES ? text : undefined;
  }

  /** Undefined for anything that this server, or another with the same secret, did not seal for this purpose. */
  async open(purpose: Purpose, text: string): Promise<unknown> {
    if (text.length > MAX_COOKIE_BYTES) return undefined;
    const { compactDecrypt } = await import('jose');
    const options = {
      ...{ keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] },
      maxDecompressedLength: MAX_PLAIN_BYTES,
    };
    for (const secret of this.all()) {
      try {
        const { plaintext } = await compactDecrypt(text, this.key(secret, purpose), options);
        return JSON.parse(Buffer.from(plaintext).toString('utf8'));
      } catch {
        // Another secret may fit.
      }
    }
    return undefined;
  }

  /** The token in the forms of a session. It stays the same until the secret is replaced. */
  csrf(sessionId: string): string {
    const [secret = this.own] = this.secrets();
    return csrfToken(secret, sessionId);
  }

  isCsrf(sessionId: string, given: string): boolean {
    return this.all()
      .map((secret) => isSameSecret(csrfToken(secret, sessionId), given))
      .includes(true);
  }

  private all(): readonly string[] {
    const secrets = this.secrets();
    return secrets.length === 0 ? [this.own] : secrets;
  }

  private key(secret: string, purpose: Purpose): Uint8Array {
    const name = `${purpose} ${secret}`;
    const key = this.keys.get(name) ?? new Uint8Array(hkdfSync('sha256', secret, '', `conveyor cookie ${purpose}`, 32));
    this.keys.set(name, key);
    return key;
  }
}

const MAX_PLAIN_BYTES = 65_536;

const csrfToken = (secret: string, sessionId: string): string =>
  createHmac('sha256', secret).update(`form:${sessionId}`).digest('base64url');
