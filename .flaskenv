FLASK_APP=cli.application:create_app
