import type { IAuthenticateGeneric, Icon, ICredentialTestRequest, ICredentialType, INodeProperties } from "n8n-workflow";

/** The address of a service, and an API key with a spending cap. */
// eslint-disable-next-line n8n-nodes-base/cred-class-field-documentation-url-missing -- it is on your own server, at /manual/
export class ContactLookupApi implements ICredentialType {
  name = "contactLookupApi";

  displayName = "Contact Lookup API";

  icon: Icon = { light: "file:../icons/contact-lookup.svg", dark: "file:../icons/contact-lookup.dark.svg" };

  properties: INodeProperties[] = [
    {
      displayName: "Base URL",
      name: "baseUrl",
      type: "string",
      default: "",
      placeholder: "https://lookup.example.com",
      description: "The address of your service, without a path",
      required: true,
    },
    {
      displayName: "API Key",
      name: "apiKey",
      type: "string",
      typeOptions: { password: true },
      default: "",
      placeholder: "key_…",
      description: "Create one for n8n on the page /keys, with a spending cap: a workflow cannot spend more than it",
      required: true,
    },
  ];

  authenticate: IAuthenticateGeneric = {
    type: "generic",
    properties: { headers: { Authorization: "=Bearer {{$credentials.apiKey}}" } },
  };

  test: ICredentialTestRequest = {
    request: { baseURL: '={{$credentials.baseUrl.replace(/\\/+$/, "")}}', url: "/api/ext/session", method: "GET" },
  };
}
