/** The way to one API server: its address, its authority, and where credentials come from. */
export interface ClusterAccess {
  /** For messages: the context of a kubeconfig, or `in-cluster`. */
  readonly name: string;
  readonly server: URL;
  readonly authority: PemSource | undefined;
  /** The name in the certificate of the server if it is not that of the address. */
  readonly serverName: string | undefined;
  readonly namespace: string;
  readonly credentials: CredentialSource;
}

/** A text in PEM, or the file with it, which is read again when it changes. */
export type PemSource = { readonly text: string } | { readonly file: string };

export type CredentialSource =
  | { readonly kind: 'none' }
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'tokenFile'; readonly file: string }
  | { readonly kind: 'certificate'; readonly certificate: PemSource; readonly key: PemSource }
  | { readonly kind: 'exec'; readonly plugin: ExecPlugin };

/** A program that prints credentials (`client.authentication.k8s.io`). */
export interface ExecPlugin {
  readonly apiVersion: string;
  /** With its path, or to be found on PATH. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly installHint: string | undefined;
  /** The program wants to know its cluster: this goes to it. */
  readonly cluster: Readonly<Record<string, unknown>> | undefined;
}
